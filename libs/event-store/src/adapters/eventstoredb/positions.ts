import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { Position } from '../../port.ts';

const { AllOptions, Position: LogPosition } = streams.ReadReq.Options;

/**
 * The one place where positions of the server become those of the port and back (PITFALLS 14). A position of the port is
 * the commit position. The events that are written through gRPC have a prepare position equal to it, so that it
 * suffices to go on from there.
 * @throws RangeError beyond 2^53, that is after 8 petabytes of log
 */
export const positionOf = (commit: string): Position => {
  const position = Number(commit);
  if (!Number.isSafeInteger(position))
    throw new RangeError(`log position ${commit} is beyond what this program can count`);
  return position;
};

/**
 * Where a subscription says that it is. Undefined for what is no place in the log: some versions name the largest number of all
 * when nothing was looked at yet.
 */
export const checkpointOf = (checkpoint: streams.ReadResp.Checkpoint | undefined): Position | undefined => {
  const position = Number(checkpoint?.getCommitPosition());
  return Number.isSafeInteger(position) ? position : undefined;
};

/**
 * Where to begin in order to see what comes after a position; 0 is the beginning of the log. Reads include the event at
 * that place and subscriptions do not, so whoever receives leaves out events up to and including `after` in both cases.
 */
export const allAfter = (after: Position): streams.ReadReq.Options.AllOptions =>
  after === 0
    ? new AllOptions().setStart(new shared.Empty())
    : new AllOptions().setPosition(
        new LogPosition().setCommitPosition(String(after)).setPreparePosition(String(after)),
      );

/** Where to begin in order to read backwards what comes before the event at a position. */
export const allBefore = (position: Position): streams.ReadReq.Options.AllOptions => allAfter(position);

/** The end of the log, for reading backwards. */
export const allFromEnd = (): streams.ReadReq.Options.AllOptions => new AllOptions().setEnd(new shared.Empty());

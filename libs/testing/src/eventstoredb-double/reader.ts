import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import { failure } from './faults.ts';
import type { EventLog, LogEntry } from './log.ts';
import { streamNotFound } from './messages.ts';
import type { ReadRequest } from './read-request.ts';

/** A call that answers with messages, made here or stored as bytes. */
export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp | Buffer>;

/** Events looked at before others get their turn. */
export const SLICE = 2000;

/** Sends and waits while the reader does not keep up. False when it is gone. */
export const send = async (call: ReadCall, message: streams.ReadResp | Buffer): Promise<boolean> => {
  if (call.cancelled || call.destroyed || call.writableEnded) return false;
  if (call.write(message)) return true;
  const over = new AbortController();
  const stop = (): void => over.abort();
  call.once('cancelled', stop).once('close', stop);
  try {
    await once(call, 'drain', { signal: over.signal });
    return true;
  } catch {
    return false; // cancelled
  } finally {
    call.off('cancelled', stop).off('close', stop);
  }
};

/** Index of the first entry at or after a position. */
export const indexOf = (entries: readonly LogEntry[], position: number): number => {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.position ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
};

const readAll = async (
  log: EventLog,
  { from, backwards, limit, filter }: ReadRequest,
  call: ReadCall,
): Promise<void> => {
  const { entries } = log;
  const end = entries.length;
  const start = from === 'start' ? 0 : from === 'end' ? end : indexOf(entries, from);
  const step = backwards ? -1 : 1;
  let left = limit;
  for (let index = backwards ? start - 1 : start; left > 0 && index >= 0 && index < end; index += step) {
    if (index % SLICE === 0) await nextTurn();
    const entry = entries[index];
    if (entry === undefined || !filter(entry)) continue;
    if (!(await send(call, log.messageOf(entry)))) return;
    left -= 1;
  }
  call.end();
};

const readStream = async (log: EventLog, stream: string, request: ReadRequest, call: ReadCall): Promise<void> => {
  const { from, backwards, limit } = request;
  const found = log.streams.visible(stream);
  if (found === 'tombstoned') {
    const trailers = { exception: 'stream-deleted', 'stream-name': stream };
    call.emit('error', failure(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, trailers));
    return;
  }
  if (found === 'absent') {
    if (await send(call, streamNotFound(stream))) call.end();
    return;
  }
  const { first, last } = found;
  const start = from === 'start' ? first : from === 'end' ? last : from;
  let revision = backwards ? Math.min(start, last) : Math.max(start, first);
  for (let left = limit; left > 0 && revision >= first && revision <= last; left -= 1) {
    const entry = log.streams.entry(stream, revision);
    if (entry === undefined || !(await send(call, log.messageOf(entry)))) return;
    revision += backwards ? -1 : 1;
  }
  call.end();
};

/** Answers a read and ends the call. */
export const read = (log: EventLog, request: ReadRequest, call: ReadCall): Promise<void> =>
  request.stream === undefined ? readAll(log, request, call) : readStream(log, request.stream, request, call);

import { setTimeout as delay } from 'node:timers/promises';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import deletes from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerReadableStream, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { type Fault, type FaultKind, Faults, type FaultTarget, failure } from './faults.ts';
import type { EventLog } from './log.ts';
import { appended, type ProposedEvent, wrongExpectedVersion } from './messages.ts';
import type { AppendOutcome, Expectation } from './outcomes.ts';
import { readRequestOf } from './read-request.ts';
import { type ReadCall, read } from './reader.ts';
import type { Role } from './role.ts';
import { follow } from './subscription.ts';
import type { Users } from './users.ts';
import { MOST_EVENT_BYTES, type ServerVersion } from './versions.ts';

/** What a test or an operator may want to know of a double. */
export interface DoubleCounters {
  appends: number;
  /** Appends that repeat one that is still under way, and are dropped. */
  dropped: number;
  /** Calls of the batch append, which the adapter must never use (PITFALLS 7). */
  batchAppends: number;
  reads: number;
  subscriptions: number;
  /** Questions for the members of the cluster. */
  gossips: number;
  /** Events and checkpoints sent to readers. */
  messages: number;
}

/** Faults of what a call answers, after its work or in place of it. */
const OF_ANSWERS: ReadonlySet<FaultKind> = new Set([
  'lost-answer',
  'silent-after-commit',
  'false-success',
  'no-position',
]);

const expectationOf = (options: streams.AppendReq.Options): Expectation => {
  if (options.hasRevision()) return Number(options.getRevision());
  if (options.hasNoStream()) return 'no-stream';
  return options.hasStreamExists() ? 'exists' : 'any';
};

const eventOf = (proposed: streams.AppendReq.ProposedMessage): ProposedEvent => ({
  id: proposed.getId()?.getString() ?? '',
  type: proposed.getMetadataMap().get('type') ?? '',
  contentType: proposed.getMetadataMap().get('content-type') ?? 'application/octet-stream',
  data: proposed.getData_asU8(),
  metadata: proposed.getCustomMetadata_asU8(),
});

/** Longest wait for a write to be stored in the cluster; then the caller is told that it timed out. In ms. */
const COMMIT_TIMEOUT_MS = 2000;

/** How a server counts the size of an event. */
const sizeOf = ({ type, data, metadata }: ProposedEvent): number => data.length + metadata.length + 2 * type.length;

export interface StreamsSettings {
  readonly version: ServerVersion;
  /** `MaxAppendSize`, in bytes. */
  readonly maxAppendBytes: number;
  readonly users: Users;
  readonly role: Role;
}

/** The Streams service of a double: what its clients call, with its faults. */
export class StreamsHandlers {
  readonly counters: DoubleCounters = {
    appends: 0,
    dropped: 0,
    batchAppends: 0,
    reads: 0,
    subscriptions: 0,
    gossips: 0,
    messages: 0,
  };
  /** Subscriptions that are open now. */
  readonly open = new Set<ReadCall>();
  readonly #log: EventLog;
  readonly #faults: Faults;
  readonly #settings: StreamsSettings;

  constructor(log: EventLog, faults: Faults, settings: StreamsSettings) {
    this.#log = log;
    this.#faults = faults;
    this.#settings = settings;
  }

  /** The handlers by their names in the service definition. */
  get implementation() {
    return {
      append: (
        call: ServerReadableStream<streams.AppendReq, streams.AppendResp>,
        answer: sendUnaryData<streams.AppendResp>,
      ): void => {
        this.counters.appends += 1;
        this.#append(call, answer).catch((error: unknown) => answer(failure(status.UNKNOWN, String(error)), null));
      },
      read: (call: ReadCall): void => {
        // The library sends the status of an error event; a call that ended already has nobody to tell.
        this.#read(call).catch((error: unknown) => call.emit('error', failure(status.UNKNOWN, String(error))));
      },
      delete: (
        call: ServerUnaryCall<streams.DeleteReq, streams.DeleteResp>,
        answer: sendUnaryData<streams.DeleteResp>,
      ): void => {
        const name = call.request.getOptions()?.getStreamIdentifier()?.getStreamName_asU8();
        this.#delete(name, 'soft').then(() => answer(null, new deletes.DeleteResp()), answer);
      },
      tombstone: (
        call: ServerUnaryCall<streams.TombstoneReq, streams.TombstoneResp>,
        answer: sendUnaryData<streams.TombstoneResp>,
      ): void => {
        const name = call.request.getOptions()?.getStreamIdentifier()?.getStreamName_asU8();
        this.#delete(name, 'tombstone').then(() => answer(null, new deletes.TombstoneResp()), answer);
      },
      batchAppend: (call: { emit(event: 'error', error: Error): boolean }): void => {
        this.counters.batchAppends += 1;
        call.emit('error', failure(status.UNIMPLEMENTED, 'batch append is not served'));
      },
    };
  }

  #delete(name: Uint8Array | undefined, kind: 'soft' | 'tombstone'): Promise<AppendOutcome> {
    return this.#log.delete(Buffer.from(name ?? []).toString('utf8'), kind);
  }

  /** Runs a fault that comes before the work. True when the call is done with. */
  async #before(fault: Fault | undefined, refuse: (error: Error) => void): Promise<boolean> {
    if (fault === undefined || OF_ANSWERS.has(fault.kind)) return false;
    if (fault.kind === 'slow') {
      await delay(fault.delayMs ?? 1000);
      return false;
    }
    const refusal = Faults.refusal(fault.kind, this.#settings.role.leader);
    if (refusal !== undefined) refuse(refusal);
    return true; // silent: accepted, and never answered
  }

  async #append(
    call: ServerReadableStream<streams.AppendReq, streams.AppendResp>,
    answer: sendUnaryData<streams.AppendResp>,
  ): Promise<void> {
    const { users, role, version, maxAppendBytes } = this.#settings;
    const refused = role.refusal(call.metadata) ?? users.refusal(call.metadata, undefined);
    if (refused !== undefined) {
      call.resume(); // what is still coming in is nobody's
      return answer(refused, null);
    }
    let options: streams.AppendReq.Options | undefined;
    const events: ProposedEvent[] = [];
    let bytes = 0;
    for await (const message of call as AsyncIterable<streams.AppendReq>) {
      options ??= message.getOptions();
      const proposed = message.getProposedMessage();
      if (proposed === undefined) continue;
      const event = eventOf(proposed);
      events.push(event);
      bytes += sizeOf(event);
      // Said as soon as it is known, while the rest is still coming in.
      if (sizeOf(event) > MOST_EVENT_BYTES && version === '25.1') return answer(Faults.tooLarge('event'), null);
      if (bytes > maxAppendBytes) return answer(Faults.tooLarge('append', maxAppendBytes), null);
    }
    if (call.cancelled) return; // given up in the middle: an append is all or nothing
    const name = options?.getStreamIdentifier()?.getStreamName_asU8();
    if (options === undefined || name === undefined) {
      answer(failure(status.INVALID_ARGUMENT, 'an append begins with its options'), null);
      return;
    }
    const fault = this.#faults.take('append');
    if (await this.#before(fault, (error) => answer(error, null))) return;
    if (fault?.kind === 'false-success') return answer(null, appended(1, undefined));
    const expected = expectationOf(options);
    const stream = Buffer.from(name).toString('utf8');
    const outcome = await this.#log.append(stream, events, expected);
    if (fault?.kind === 'silent-after-commit') return;
    if (fault?.kind === 'lost-answer') answer(Faults.refusal('lost-answer', role.leader) ?? null, null);
    else if (outcome.kind === 'appended') {
      const position = fault?.kind === 'no-position' ? undefined : outcome.position;
      answer(null, appended(outcome.revision, position));
    } else if (outcome.kind === 'conflict') answer(null, wrongExpectedVersion(outcome.current, expected));
    else if (outcome.kind === 'dropped') {
      this.counters.dropped += 1;
      await delay(COMMIT_TIMEOUT_MS);
      answer(Faults.refusal('timeout', role.leader) ?? null, null);
    } else {
      const trailers = { exception: 'stream-deleted', 'stream-name': stream };
      answer(failure(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, trailers), null);
    }
  }

  async #read(call: ReadCall): Promise<void> {
    const { users, role, version } = this.#settings;
    const request = readRequestOf(call.request);
    const refused = role.refusal(call.metadata) ?? users.refusal(call.metadata, request);
    if (refused !== undefined) {
      call.emit('error', refused);
      return;
    }
    if (request === undefined) {
      call.emit('error', failure(status.INVALID_ARGUMENT, 'a read names $all or a stream'));
      return;
    }
    const target: FaultTarget = request.subscription ? 'subscribe' : 'read';
    if (request.subscription) this.counters.subscriptions += 1;
    else this.counters.reads += 1;
    if (request.subscription) {
      this.open.add(call);
      const gone = (): void => void this.open.delete(call);
      call.once('cancelled', gone).once('close', gone).once('finish', gone);
    }
    if (await this.#before(this.#faults.take(target), (error) => call.emit('error', error))) return;
    const write = call.write.bind(call);
    call.write = ((message: streams.ReadResp | Buffer) => {
      this.counters.messages += 1;
      return write(message);
    }) as typeof call.write;
    if (request.subscription) await follow(this.#log, request, call, version);
    else await read(this.#log, request, call);
  }
}

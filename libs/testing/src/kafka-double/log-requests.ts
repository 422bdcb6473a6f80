import { KAFKA_ERRORS } from './error-codes.ts';
import type { PartitionLog } from './partition-log.ts';
import { isSound, readBatch } from './record-batch.ts';
import type { Api, Handle, RequestContext } from './requests.ts';
import type { Place } from './state.ts';
import { holds } from './transactions.ts';
import { WireWriter } from './wire.ts';

interface Produced {
  readonly partition: number;
  readonly error: number;
  readonly offset: bigint;
}

/** Why a broker does not answer for a partition; 0: it does. */
const refusalOf = (place: Place, { forced, leaderOf, node, state }: RequestContext): number => {
  if (forced !== undefined) return forced;
  if (state.partition(place) === undefined) return KAFKA_ERRORS.UNKNOWN_TOPIC_OR_PARTITION;
  return leaderOf(place) === node ? 0 : KAFKA_ERRORS.NOT_LEADER_OR_FOLLOWER;
};

/** The error that stands against a batch, or the offset at which it already is, or undefined. */
const judge = (place: Place, bytes: Buffer, transactionalId: string | null, context: RequestContext) => {
  const { state, transactions } = context;
  const log = state.partition(place);
  const topic = state.topics.get(place.topic);
  if (log === undefined || topic === undefined) return { error: KAFKA_ERRORS.UNKNOWN_TOPIC_OR_PARTITION };
  if (bytes.length > topic.maxBytes) return { error: KAFKA_ERRORS.MESSAGE_TOO_LARGE };
  if (!isSound(bytes)) return { error: KAFKA_ERRORS.CORRUPT_MESSAGE };
  if (!state.hasRoom(bytes.length)) return { error: KAFKA_ERRORS.NOT_ENOUGH_REPLICAS };
  const batch = readBatch(bytes);
  if (batch.control || batch.transactional !== (transactionalId !== null))
    return { error: KAFKA_ERRORS.CORRUPT_MESSAGE };
  if (transactionalId !== null) {
    const known = transactions.check(transactionalId, { producerId: batch.producerId, epoch: batch.producerEpoch });
    if (typeof known === 'number') return { error: known };
    if (!holds(known, place)) return { error: KAFKA_ERRORS.INVALID_TXN_STATE };
  }
  return log.judge(batch);
};

const produceOne = (place: Place, bytes: Buffer, transactionalId: string | null, context: RequestContext): Produced => {
  const { partition } = place;
  const refusal = refusalOf(place, context);
  if (refusal !== 0) return { partition, error: refusal, offset: -1n };
  const judged = judge(place, bytes, transactionalId, context);
  if (judged === undefined) return { partition, error: 0, offset: context.state.appendBatch(place, bytes) };
  if ('error' in judged) return { partition, error: judged.error, offset: -1n };
  return { partition, error: 0, offset: judged.duplicateOf };
};

const produce: Handle = (request, context) => {
  const transactionalId = request.nullableString();
  const acks = request.int16();
  request.int32(); // how long replicas may take: there is one
  const topics = request.array(() => {
    const topic = request.string();
    const partitions = request.array(() => {
      const partition = request.int32();
      return produceOne({ topic, partition }, request.bytes(), transactionalId, context);
    });
    return { topic, partitions };
  });
  if (acks === 0) return undefined;
  const answer = new WireWriter();
  answer.array(topics, ({ topic, partitions }) =>
    answer.string(topic).array(partitions, ({ partition, error, offset }) =>
      // No time of appending (the producer's counts); clients make nothing of where the log starts.
      answer.int32(partition).int16(error).int64(offset).int64(-1n).int64(0n),
    ),
  );
  return answer.int32(0);
};

interface Wanted extends Place {
  readonly offset: bigint;
  readonly maxBytes: number;
}

interface Fetched extends Place {
  readonly error: number;
  readonly log: PartitionLog | undefined;
  readonly bytes: Buffer;
  readonly aborted: readonly { readonly producerId: bigint; readonly first: bigint }[];
}

const fetchAll = (
  wanted: readonly Wanted[],
  maxBytes: number,
  committed: boolean,
  context: RequestContext,
): Fetched[] => {
  let left = maxBytes;
  let any = false;
  return wanted.map(({ topic, partition, offset, maxBytes: most }) => {
    const log = context.state.partition({ topic, partition });
    const none = { topic, partition, log, bytes: Buffer.alloc(0), aborted: [] };
    const refusal = refusalOf({ topic, partition }, context);
    if (log === undefined || refusal !== 0) return { ...none, error: refusal };
    if (offset < log.first || offset > log.end) return { ...none, error: KAFKA_ERRORS.OFFSET_OUT_OF_RANGE };
    const limit = committed ? log.stableEnd : log.end;
    const batches = log.read(offset, limit, Math.min(left, most), !any);
    const bytes = Buffer.concat(batches.map((batch) => batch.bytes));
    left = Math.max(0, left - bytes.length);
    any ||= bytes.length > 0;
    const end = (batches.at(-1)?.lastOffset ?? offset - 1n) + 1n;
    return { ...none, error: 0, bytes, aborted: committed ? log.abortedBetween(offset, end) : [] };
  });
};

const fetch: Handle = async (request, context) => {
  request.int32(); // not a replica
  const [waitMs, minBytes, maxBytes] = [request.int32(), request.int32(), request.int32()];
  const committed = request.int8() === 1;
  request.int32(); // No sessions: every fetch names all its partitions.
  request.int32();
  const wanted = request
    .array(() => {
      const topic = request.string();
      return request.array((): Wanted => {
        const partition = request.int32();
        request.int32(); // epoch of the leader: there is one
        const offset = request.int64();
        request.int64(); // start of a replica's log
        return { topic, partition, offset, maxBytes: request.int32() };
      });
    })
    .flat();
  const end = performance.now() + waitMs;
  let fetched = fetchAll(wanted, maxBytes, committed, context);
  for (;;) {
    const bytes = fetched.reduce((sum, each) => sum + each.bytes.length, 0);
    const left = end - performance.now();
    if (bytes >= minBytes || left <= 0 || context.signal.aborted || fetched.some(({ error }) => error !== 0)) break;
    await context.state.untilAppended(left, context.signal);
    fetched = fetchAll(wanted, maxBytes, committed, context);
  }
  const answer = new WireWriter().int32(0).int16(0).int32(0);
  answer.array([...Map.groupBy(fetched, ({ topic }) => topic)], ([topic, partitions]) =>
    answer.string(topic).array(partitions, ({ partition, error, log, aborted, bytes }) => {
      answer.int32(partition).int16(error);
      answer
        .int64(log?.end ?? -1n)
        .int64(log?.stableEnd ?? -1n)
        .int64(log?.first ?? -1n);
      answer.array(aborted, ({ producerId, first }) => answer.int64(producerId).int64(first));
      return answer.int32(-1).bytes(bytes);
    }),
  );
  return answer;
};

const LATEST = -1n;
const EARLIEST = -2n;

const offsetAt = (log: PartitionLog, time: bigint, committed: boolean): readonly [offset: bigint, time: bigint] => {
  if (time === LATEST) return [committed ? log.stableEnd : log.end, -1n];
  if (time === EARLIEST) return [log.first, -1n];
  return log.find(time) ?? [-1n, -1n];
};

const listOffsets: Handle = (request, context) => {
  request.int32(); // not a replica
  const committed = request.int8() === 1;
  const answer = new WireWriter().int32(0);
  const topics = request.array(() => ({
    topic: request.string(),
    partitions: request.array(() => ({ partition: request.int32(), time: request.int64() })),
  }));
  return answer.array(topics, ({ topic, partitions }) =>
    answer.string(topic).array(partitions, ({ partition, time }) => {
      const log = context.state.partition({ topic, partition });
      const error = refusalOf({ topic, partition }, context);
      const [offset, found] = error !== 0 || log === undefined ? [-1n, -1n] : offsetAt(log, time, committed);
      return answer.int32(partition).int16(error).int64(found).int64(offset);
    }),
  );
};

const deleteRecords: Handle = (request, context) => {
  const answer = new WireWriter().int32(0);
  const topics = request.array(() => ({
    topic: request.string(),
    partitions: request.array(() => ({ partition: request.int32(), before: request.int64() })),
  }));
  return answer.array(topics, ({ topic, partitions }) =>
    answer.string(topic).array(partitions, ({ partition, before }) => {
      const place = { topic, partition };
      const log = context.state.partition(place);
      const beyond = before > (log?.end ?? 0n) ? KAFKA_ERRORS.OFFSET_OUT_OF_RANGE : 0;
      const error = refusalOf(place, context) || beyond;
      if (error === 0) context.state.deleteRecords(place, before < 0n ? (log?.end ?? 0n) : before);
      return answer
        .int32(partition)
        .int64(log?.first ?? -1n)
        .int16(error);
    }),
  );
};

/** Requests about what is in the log. */
export const LOG_REQUESTS: readonly Api[] = [
  { name: 'Produce', key: 0, versions: [7, 7], handle: produce },
  { name: 'Fetch', key: 1, versions: [11, 11], handle: fetch },
  { name: 'ListOffsets', key: 2, versions: [3, 3], handle: listOffsets },
  { name: 'DeleteRecords', key: 21, versions: [0, 1], handle: deleteRecords },
];

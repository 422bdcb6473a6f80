import { KAFKA_ERRORS } from './error-codes.ts';
import type { Api, Handle } from './requests.ts';
import { WireWriter } from './wire.ts';

const HOST = '127.0.0.1';
const VALID_NAME = /^[a-zA-Z0-9._-]{1,249}$/;
const DEFAULT_MAX_BYTES = 1_048_588;
const MAX_PARTITIONS = 1_000;

const metadata: Handle = (request, { state, nodes, leaderOf, forced }) => {
  const named = request.nullableArray(() => request.string());
  request.boolean(); // Topics are never created by asking for them.
  const answer = new WireWriter().int32(0);
  answer.array(nodes, ({ id, port }) => answer.int32(id).string(HOST).int32(port).string(null));
  answer.string('bindery-double').int32(nodes[0]?.id ?? -1);
  return answer.array(named ?? [...state.topics.keys()], (name) => {
    const partitions = state.topics.get(name)?.partitions ?? [];
    const unknown = partitions.length === 0 ? KAFKA_ERRORS.UNKNOWN_TOPIC_OR_PARTITION : 0;
    answer
      .int16(forced ?? unknown)
      .string(name)
      .boolean(false);
    return answer.array([...partitions.keys()], (partition) => {
      const leader = leaderOf({ topic: name, partition });
      const alone = (): WireWriter => answer.array([leader], (node) => answer.int32(node));
      answer.int16(0).int32(partition).int32(leader);
      alone();
      alone();
      return answer.int32(0);
    });
  });
};

const createTopics: Handle = (request, { state, nodes, forced }) => {
  const topics = request.array(() => {
    const name = request.string();
    const [partitions, replicas] = [request.int32(), request.int16()];
    const assigned = request.array(() => [request.int32(), request.array(() => request.int32())]);
    const settings = new Map(request.array(() => [request.string(), request.nullableString()]));
    return { name, partitions: Math.max(partitions, assigned.length, 1), replicas, settings };
  });
  request.int32();
  const onlyCheck = request.boolean();
  const answer = new WireWriter().int32(0);
  return answer.array(topics, ({ name, partitions, replicas, settings }) => {
    const exists = state.topics.has(name) ? KAFKA_ERRORS.TOPIC_ALREADY_EXISTS : 0;
    const valid = VALID_NAME.test(name) && partitions <= MAX_PARTITIONS;
    const impossible = exists === 0 && replicas > nodes.length ? KAFKA_ERRORS.INVALID_REPLICATION_FACTOR : exists;
    const error = forced ?? (valid ? impossible : KAFKA_ERRORS.INVALID_TOPIC);
    const maxBytes = Number(settings.get('max.message.bytes') ?? DEFAULT_MAX_BYTES);
    if (error === 0 && !onlyCheck) state.createTopic(name, partitions, maxBytes);
    return answer.string(name).int16(error).string(null);
  });
};

const deleteTopics: Handle = (request, { state, forced }) => {
  const names = request.array(() => request.string());
  const answer = new WireWriter().int32(0);
  return answer.array(names, (name) => {
    const error = forced ?? (state.topics.has(name) ? 0 : KAFKA_ERRORS.UNKNOWN_TOPIC_OR_PARTITION);
    if (error === 0) state.deleteTopic(name);
    return answer.string(name).int16(error);
  });
};

const findCoordinator: Handle = (_request, { nodes: [first], forced }) =>
  new WireWriter()
    .int32(0)
    .int16(forced ?? 0)
    .string(null)
    .int32(first?.id ?? -1)
    .string(HOST)
    .int32(first?.port ?? -1);

const initProducerId: Handle = (request, { transactions, forced }) => {
  const id = request.nullableString();
  const timeoutMs = request.int32();
  const identity = forced === undefined ? transactions.identify(id, timeoutMs) : { producerId: -1n, epoch: -1 };
  return new WireWriter()
    .int32(0)
    .int16(forced ?? 0)
    .int64(identity.producerId)
    .int16(identity.epoch);
};

const addPartitionsToTxn: Handle = (request, { transactions, state, forced }) => {
  const id = request.string();
  const identity = { producerId: request.int64(), epoch: request.int16() };
  const places = request
    .array(() => {
      const topic = request.string();
      return request.array(() => ({ topic, partition: request.int32() }));
    })
    .flat();
  const known = transactions.check(id, identity);
  const refused = forced ?? (typeof known === 'number' ? known : 0);
  const missing = places.filter((place) => state.partition(place) === undefined);
  if (refused === 0 && missing.length === 0 && typeof known !== 'number') transactions.addPartitions(known, places);
  const answer = new WireWriter().int32(0);
  return answer.array([...Map.groupBy(places, ({ topic }) => topic)], ([topic, partitions]) =>
    answer.string(topic).array(partitions, (place) => {
      const absent = missing.includes(place) ? KAFKA_ERRORS.UNKNOWN_TOPIC_OR_PARTITION : 0;
      const other = missing.length > 0 ? KAFKA_ERRORS.OPERATION_NOT_ATTEMPTED : 0;
      return answer.int32(place.partition).int16(refused || absent || other);
    }),
  );
};

const endTxn: Handle = (request, { transactions, forced }) => {
  const id = request.string();
  const identity = { producerId: request.int64(), epoch: request.int16() };
  const commit = request.boolean();
  return new WireWriter().int32(0).int16(forced ?? transactions.end(id, identity, commit));
};

/** Requests about topics, coordinators and transactions. */
export const CLUSTER_REQUESTS: readonly Api[] = [
  { name: 'Metadata', key: 3, versions: [5, 6], handle: metadata },
  { name: 'FindCoordinator', key: 10, versions: [1, 2], handle: findCoordinator },
  { name: 'CreateTopics', key: 19, versions: [2, 3], handle: createTopics },
  { name: 'DeleteTopics', key: 20, versions: [1, 1], handle: deleteTopics },
  { name: 'InitProducerId', key: 22, versions: [0, 1], handle: initProducerId },
  { name: 'AddPartitionsToTxn', key: 24, versions: [0, 1], handle: addPartitionsToTxn },
  { name: 'EndTxn', key: 26, versions: [0, 1], handle: endTxn },
];

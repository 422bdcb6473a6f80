import { KAFKA_ERRORS } from './error-codes.ts';
import type { Api, Handle } from './requests.ts';
import type { StoredOffset } from './state.ts';
import { WireWriter } from './wire.ts';

const joinGroup: Handle = async (request, { groups, clientId, forced }) => {
  const group = request.string();
  const [sessionMs, rebalanceMs] = [request.int32(), request.int32()];
  const memberId = request.string();
  request.nullableString(); // no static membership
  const protocolType = request.string();
  const protocols = request.array(() => ({ name: request.string(), metadata: Buffer.from(request.bytes()) }));
  const answer =
    forced === undefined
      ? await groups.get(group).join({ memberId, clientId, sessionMs, rebalanceMs, protocolType, protocols })
      : { error: forced, generation: -1, protocol: '', leader: '', memberId, members: [] };
  const writer = new WireWriter().int32(0).int16(answer.error).int32(answer.generation);
  writer.string(answer.protocol).string(answer.leader).string(answer.memberId);
  return writer.array(answer.members, (member) => writer.string(member.memberId).string(null).bytes(member.metadata));
};

const syncGroup: Handle = async (request, { groups, forced }) => {
  const group = request.string();
  const generation = request.int32();
  const memberId = request.string();
  request.nullableString();
  const assignments = new Map(request.array(() => [request.string(), Buffer.from(request.bytes())]));
  const { error, assignment } =
    forced === undefined
      ? await groups.get(group).sync(memberId, generation, assignments)
      : { error: forced, assignment: Buffer.alloc(0) };
  return new WireWriter().int32(0).int16(error).bytes(assignment);
};

const heartbeat: Handle = (request, { groups, forced }) => {
  const group = groups.get(request.string());
  const generation = request.int32();
  const memberId = request.string();
  return new WireWriter().int32(0).int16(forced ?? group.heartbeat(memberId, generation));
};

const leaveGroup: Handle = (request, { groups, forced }) => {
  const group = groups.get(request.string());
  const members = request.array(() => {
    const memberId = request.string();
    request.nullableString();
    return { memberId, error: forced ?? group.leave(memberId) };
  });
  const answer = new WireWriter().int32(0).int16(forced ?? 0);
  return answer.array(members, ({ memberId, error }) => answer.string(memberId).string(null).int16(error));
};

const offsetCommit: Handle = (request, { groups, state, forced }) => {
  const group = request.string();
  const generation = request.int32();
  const memberId = request.string();
  const offsets = request
    .array(() => {
      const topic = request.string();
      return request.array(
        (): StoredOffset => ({
          topic,
          partition: request.int32(),
          offset: String(request.int64()),
          metadata: request.nullableString(),
        }),
      );
    })
    .flat();
  const refused = forced ?? groups.get(group).mayCommit(memberId, generation);
  const known = offsets.filter((offset) => state.partition(offset) !== undefined);
  if (refused === 0) state.commitOffsets(group, known);
  const answer = new WireWriter().int32(0);
  return answer.array([...Map.groupBy(offsets, ({ topic }) => topic)], ([topic, partitions]) =>
    answer.string(topic).array(partitions, (offset) => {
      const error = known.includes(offset) ? 0 : KAFKA_ERRORS.UNKNOWN_TOPIC_OR_PARTITION;
      return answer.int32(offset.partition).int16(refused === 0 ? error : refused);
    }),
  );
};

const offsetFetch: Handle = (request, { state, forced }) => {
  const group = request.string();
  const named = request.nullableArray(() => {
    const topic = request.string();
    return request.array(() => ({ topic, partition: request.int32() }));
  });
  const places = named?.flat() ?? state.allCommitted(group);
  const answer = new WireWriter().int32(0);
  answer.array([...Map.groupBy(places, ({ topic }) => topic)], ([topic, partitions]) =>
    answer.string(topic).array(partitions, ({ partition }) => {
      const found = state.committed(group, { topic, partition });
      return answer
        .int32(partition)
        .int64(BigInt(found?.offset ?? -1))
        .string(found?.metadata ?? '')
        .int16(forced ?? 0);
    }),
  );
  return answer.int16(forced ?? 0);
};

/** Requests of consumers as members of a group. */
export const GROUP_REQUESTS: readonly Api[] = [
  { name: 'OffsetCommit', key: 8, versions: [5, 5], handle: offsetCommit },
  { name: 'OffsetFetch', key: 9, versions: [4, 4], handle: offsetFetch },
  { name: 'JoinGroup', key: 11, versions: [5, 5], handle: joinGroup },
  { name: 'Heartbeat', key: 12, versions: [3, 3], handle: heartbeat },
  { name: 'LeaveGroup', key: 13, versions: [3, 3], handle: leaveGroup },
  { name: 'SyncGroup', key: 14, versions: [3, 3], handle: syncGroup },
];

import type { Member } from './groups.ts';
import type { Topic } from './log.ts';

/** Names a partition of a topic. */
export const slot = (topicId: number, partition: number): string => `${topicId}/${partition}`;

/** The partitions that one of the living members should work on: round robin, the same answer in every process. */
export const assignedTo = (
  member: string,
  members: readonly Member[],
  topics: readonly Topic[],
): ReadonlySet<string> => {
  const mine = new Set<string>();
  for (const topic of topics) {
    const takers = members.filter(({ topicIds }) => topicIds.includes(topic.id)).map(({ id }) => id);
    if (takers.length === 0) continue;
    takers.sort();
    for (let partition = 0; partition < topic.partitions; partition += 1) {
      if (takers[(partition + topic.id) % takers.length] === member) mine.add(slot(topic.id, partition));
    }
  }
  return mine;
};

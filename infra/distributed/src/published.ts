import { serviceTopic } from '@bindery/message-bus';
import { openKafkaMessageBus } from '@bindery/message-bus/kafka';
import type { Write } from './load.ts';

/**
 * What is wrong with the events that the content service has published: acknowledged writes without one, events of a key
 * out of order. Repeats are allowed (at least once), and dropped by id as consumers do.
 */
export const wrongInPublished = async (brokers: string, writes: readonly Write[]): Promise<readonly string[]> => {
  const bus = openKafkaMessageBus({ brokers: brokers.split(',') });
  const ids = new Set<string>();
  const last = new Map<string, string>();
  const created = new Set<string>();
  const wrong: string[] = [];
  try {
    const options = { from: 'beginning', follow: false, signal: AbortSignal.timeout(60_000) } as const;
    for await (const { key, event } of bus.tail([serviceTopic('content')], options)) {
      if (ids.has(event.id)) continue;
      ids.add(event.id);
      const { sequence = '' } = event;
      if (sequence < (last.get(key) ?? '')) wrong.push(`${key}: ${event.id} comes after a later event`);
      last.set(key, sequence);
      if (event.type === 'bindery.content.change-request.opened.v1') created.add(event.subject);
    }
  } finally {
    await bus.close();
  }
  for (const { id, subject, outcome } of writes)
    if (outcome === 'ok' && id !== undefined && !created.has(id)) wrong.push(`${subject}: no event tells of it`);
  return wrong;
};

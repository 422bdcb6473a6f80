import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BusMessage, MessageBusUnavailable } from '../../port.ts';
import { type BusContext, topicKey } from './context.ts';
import { toBusMessage } from './log.ts';

const PAGE = 64;

/**
 * Reads topics without a group, in the order of publishing. Without `follow` it ends at what was there when the reading
 * began. @throws UnknownTopic, MessageBusUnavailable when the bus closes while it follows
 */
export async function* tailTopics(
  { changes, log }: BusContext,
  names: readonly string[],
  start: number,
  options: { readonly follow: boolean; readonly signal: AbortSignal; readonly closed: AbortSignal },
): AsyncGenerator<BusMessage, void, void> {
  const { follow, signal, closed } = options;
  const topics = new Map(names.map((name) => [log.topic(name).id, name]));
  const ids = [...topics.keys()];
  if (ids.length === 0) return;
  const end = follow ? Number.MAX_SAFE_INTEGER : log.head();
  const wake = AbortSignal.any([signal, closed]);
  let seen = start;
  while (!signal.aborted) {
    if (closed.aborted) throw new MessageBusUnavailable('the message bus is closed');
    const mark = changes.mark(...ids.map(topicKey));
    const page = log.page(ids, seen, end, PAGE);
    for (const stored of page) {
      seen = stored.seq;
      yield toBusMessage(topics.get(stored.topicId) ?? '', stored);
      if (signal.aborted) return;
    }
    if (page.length === PAGE) await nextTurn();
    else if (follow) await changes.changedSince(mark, wake);
    else return;
  }
}

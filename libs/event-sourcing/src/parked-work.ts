import type { CloudEvent, ParkedKey } from '@bindery/message-bus';
import {
  conflict,
  invalid,
  notForgotten,
  notFound,
  type ParkedKeyId,
  type ParkedWork,
  Problem,
  type WaitingKey,
} from '@bindery/service-kit';
import type { Membership } from './consumers/membership.ts';
import type { ServiceRuntime } from './service-runtime.ts';

const present = (group: string, { messages, ...known }: ParkedKey): WaitingKey => ({
  group,
  ...known,
  letters: messages,
});

/** What the bus refuses, as callers are told. */
const told = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RangeError) throw invalid('cursor.invalid', 'query.page: is not a cursor of this list');
    if (Object(error).code !== 'message_bus.unavailable') throw error;
    const message = 'The message bus cannot be reached at the moment.';
    throw new Problem('unavailable', 'message_bus.unavailable', message, { retryAfter: 1, cause: error });
  }
};

/**
 * What waits in a service: keys of its consumer groups and streams of its reactors.
 * @param deps `validatePublic` throws for what is no event of the catalogue: its content is not shown
 */
export const createParkedWork = (deps: {
  readonly memberships: readonly Membership[];
  readonly streams: ServiceRuntime['parkedStreams'];
  readonly validatePublic: (event: CloudEvent) => void;
}): ParkedWork => {
  const { streams, validatePublic } = deps;
  const memberships = [...deps.memberships].sort((a, b) => (a.group < b.group ? -1 : 1));
  const groups = memberships.map(({ group }) => group);
  const memberOf = (group: string) => memberships.find((one) => one.group === group)?.consumer();

  const shown = (event: CloudEvent | undefined): { readonly event?: CloudEvent } => {
    if (event === undefined) return {};
    try {
      validatePublic(event);
      return { event };
    } catch {
      return {}; // not of the catalogue: nobody has said what it may hold
    }
  };

  const only = async ({ group, topic, key }: ParkedKeyId): Promise<WaitingKey | null> => {
    const [found] = (await memberOf(group)?.parked({ only: { topic, key }, fresh: true })) ?? [];
    return found === undefined ? null : present(group, found);
  };

  return {
    streams: (query) => streams.list(query),
    retry: (query) => streams.retry(query),
    async keys({ group, topic, key, after, limit }) {
      if (group !== undefined && topic !== undefined && key !== undefined) {
        const found = groups.includes(group) ? await told(only({ group, topic, key })) : null;
        return { groups, keys: found === null ? [] : [found] };
      }
      const keys: WaitingKey[] = [];
      for (const membership of memberships) {
        if (group !== undefined && membership.group !== group) continue;
        if (after !== undefined && membership.group < after.group) continue;
        const member = membership.consumer();
        for (let behind = membership.group === after?.group ? after : undefined; keys.length < limit; ) {
          const page = await told(
            member.parked({ limit: 1000, fresh: true, ...(behind === undefined ? {} : { after: behind }) }),
          );
          const wanted = page.filter((one) => (topic ?? one.topic) === one.topic && (key ?? one.key) === one.key);
          keys.push(...wanted.map((one) => present(membership.group, one)));
          const last = page.at(-1);
          if (page.length < 1000 || last === undefined) break;
          behind = { group: membership.group, topic: last.topic, key: last.key };
        }
      }
      return { groups, keys: keys.slice(0, limit) };
    },
    async letters({ group, topic, key, after, limit }) {
      const member = memberOf(group);
      if (member === undefined) return { letters: [] };
      const page = await told(member.letters(topic, key, { limit, ...(after === undefined ? {} : { after }) }));
      const letters = page.letters.map(({ partition, offset, reason, attempts, parkedAt, bytes, event }) => ({
        ...{ partition, offset, reason, attempts, parkedAt, bytes },
        ...shown(event),
      }));
      return { letters, ...(page.next === undefined ? {} : { next: page.next }) };
    },
    async release({ waitMs, ...id }) {
      const member = memberOf(id.group);
      if (member === undefined || (await told(only(id))) === null) return null;
      await told(member.release(id.topic, id.key, AbortSignal.timeout(waitMs)));
      return told(only(id));
    },
    async discard({ waitMs, offset, ...id }) {
      const member = memberOf(id.group);
      if (member === undefined || (await told(only(id))) === null) throw notFound('parked key');
      const discarded = await told(member.discard(id.topic, id.key, offset, AbortSignal.timeout(waitMs)));
      if (!discarded)
        throw conflict(
          'dead_letter.not_first',
          'Only the oldest message of a key can be discarded, and not while the key is released; look at it again.',
        );
      return told(only(id));
    },
    async forget({ waitMs, ...id }) {
      const member = memberOf(id.group);
      if (member === undefined || (await told(only(id))) === null) throw notFound('parked key');
      if (!(await told(member.forget(id.topic, id.key, AbortSignal.timeout(waitMs))))) throw notForgotten();
      return told(only(id));
    },
  };
};

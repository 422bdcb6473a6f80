import type { BodyOf, parkedOperations, recordRecovery } from '@bindery/contracts';
import {
  conflict,
  type HandlersFor,
  invalid,
  notForgotten,
  notFound,
  type OperationContext,
  type ParkedKeyId,
  type ParkedWork,
  type WaitingKey,
  type WaitingStream,
} from '@bindery/service-kit';
import type { ServiceAdmin } from './own-handlers.ts';
import { digestOf, keyOfName, keyOfPlace, nameOfKey, placeOfKey, shownKey } from './parked-names.ts';

/** How long an administrator waits for the outcome of a release, in ms. */
const mostWaitMs = 5000;
/** Time that is kept for telling the outcome, in ms. */
const tellMs = 500;
const defaultLimit = 50;

/** That wait, in whole ms, where the request has less time than that. */
const waitIn = ({ deadlineAt = Number.POSITIVE_INFINITY }: OperationContext): number =>
  Math.max(0, Math.min(mostWaitMs, Math.floor(deadlineAt - performance.now() - tellMs)));

type RecordRecovery = (context: OperationContext, body: BodyOf<typeof recordRecovery>) => Promise<unknown>;
interface Owner {
  readonly name: string;
  readonly parked: ParkedWork;
}

const presentKey = (service: string, known: WaitingKey) => ({
  ...{ object: 'parked-key' as const, service, ...known },
  id: nameOfKey(known.key),
  key: shownKey(known.key),
});
/** @param left what is parked after a release, null when the key is free */
const outcomeOf = <Free extends string>(free: Free, service: string, left: WaitingKey | null) =>
  left === null
    ? { state: free }
    : { state: left.releasing ? ('waiting' as const) : ('parked' as const), parked: presentKey(service, left) };
const presentStream = (service: string, known: WaitingStream) => ({
  object: 'parked-stream' as const,
  service,
  ...known,
});

/** Names a list in its cursors, however long the words are that narrow it. */
const listOf = (...words: readonly (string | undefined)[]): string => digestOf(JSON.stringify(words));

/** Cursors name what was shown last; they lead to nothing that the list does not show. */
const cursorOf = (list: string, position: readonly string[]): string =>
  Buffer.from(JSON.stringify([list, ...position])).toString('base64url');

/** @throws Problem 400 */
const positionOf = (list: string, length: number, page: string | undefined): readonly string[] => {
  if (page === undefined) return [];
  try {
    const [from, ...position]: unknown[] = JSON.parse(Buffer.from(page, 'base64url').toString());
    if (from === list && position.length === length && position.every((part) => typeof part === 'string'))
      return position.map(String);
  } catch {
    // no cursor of ours: told below
  }
  throw invalid('cursor.invalid', 'query.page: is not a cursor of this list');
};

/** One page over services, which come one after the other. */
const pageOver = async <T>(
  owners: readonly Owner[],
  from: string | undefined,
  limit: number,
  ask: (owner: Owner, isFirst: boolean, limit: number) => Promise<readonly T[]>,
): Promise<{ readonly items: readonly { readonly service: string; readonly item: T }[]; readonly more: boolean }> => {
  const items: { readonly service: string; readonly item: T }[] = [];
  for (const owner of owners) {
    if (items.length > limit) break;
    if (from !== undefined && owner.name < from) continue;
    const found = await ask(owner, owner.name === from, limit + 1 - items.length);
    items.push(...found.map((item) => ({ service: owner.name, item })));
  }
  return { items: items.slice(0, limit), more: items.length > limit };
};

/**
 * What could not be handled, over all services, and how it goes on. Each service answers for itself, by whichever replica;
 * the order of handling is kept by whoever works on a key or stream.
 * @param record puts into the audit what an administrator asks for, before it is begun
 */
export function createParkedHandlers(
  services: readonly ServiceAdmin[],
  record: RecordRecovery,
): HandlersFor<typeof parkedOperations> {
  const owners = services
    .flatMap(({ name, parked }): Owner[] => (parked === undefined ? [] : [{ name, parked }]))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

  /** @param id its key by its name @throws Problem 404 for an unknown group and for a key that is not parked */
  const find = async (id: ParkedKeyId): Promise<{ readonly owner: Owner; readonly known: WaitingKey }> => {
    for (const owner of owners) {
      const { groups, known } = await keyOfName(owner.parked, id);
      if (!groups.includes(id.group)) continue;
      if (known === undefined) throw notFound('parked key');
      return { owner, known };
    }
    throw notFound('consumer group');
  };

  /** The oldest letter of a key: a page may be empty although there are more, those of other keys lie in between. */
  const firstLetter = async ({ signal }: OperationContext, owner: Owner, id: ParkedKeyId) => {
    for (let after: string | undefined; ; signal.throwIfAborted()) {
      const found = await owner.parked.letters({ ...id, ...(after === undefined ? {} : { after }), limit: 1 });
      if (found.letters[0] !== undefined || found.next === undefined) return found.letters[0];
      after = found.next;
    }
  };

  const findStream = async (service: string, reactor: string, stream: string) => {
    const owner = owners.find(({ name }) => name === service);
    if (owner === undefined) throw notFound('service');
    const [known] = await owner.parked.streams({ reactor, stream, limit: 1 });
    if (known === undefined) throw notFound('parked stream');
    return { owner, known };
  };

  return {
    async listParkedKeys(_context, { query: { group, topic, page, limit = defaultLimit } }) {
      const list = listOf('parked-keys', group, topic);
      const [service, ...rest] = positionOf(list, 5, page);
      const [afterGroup = '', afterTopic = '', begins = '', digest = ''] = rest;
      const filters = { ...(group === undefined ? {} : { group }), ...(topic === undefined ? {} : { topic }) };
      let known = group === undefined;
      const { items, more } = await pageOver(owners, service, limit, async (owner, isFirst, most) => {
        const behind = isFirst
          ? { after: await keyOfPlace(owner.parked, { group: afterGroup, topic: afterTopic }, begins, digest) }
          : {};
        const found = await owner.parked.keys({ ...filters, ...behind, limit: most });
        known ||= group !== undefined && found.groups.includes(group);
        return found.keys;
      });
      if (!known && page === undefined) throw notFound('consumer group');
      const last = items.at(-1);
      return {
        status: 200,
        body: {
          items: items.map((one) => presentKey(one.service, one.item)),
          ...(more && last !== undefined
            ? {
                next: {
                  page: cursorOf(list, [
                    ...[last.service, last.item.group, last.item.topic],
                    ...placeOfKey(last.item.key),
                  ]),
                },
              }
            : {}),
        },
      };
    },

    async listDeadLetters(_context, { params, query: { page, limit = 20 } }) {
      const list = listOf('dead-letters', params.group, params.topic, params.key);
      const [after] = positionOf(list, 1, page);
      const { owner, known } = await find(params);
      const { group, topic, key } = known;
      const found = await owner.parked.letters({
        ...{ group, topic, key },
        ...(after === undefined ? {} : { after }),
        limit,
      });
      return {
        status: 200,
        body: {
          items: found.letters.map(({ event, ...letter }) => ({
            ...{ object: 'dead-letter' as const, topic: params.topic, ...letter },
            ...(event === undefined ? {} : { event: { ...event } }),
          })),
          ...(found.next === undefined ? {} : { next: { page: cursorOf(list, [found.next]) } }),
        },
      };
    },

    async releaseParkedKey(context, { params }) {
      const { owner, known } = await find(params);
      const { group, topic, key } = known;
      await record(context, {
        ...{ kind: 'parked-key', service: owner.name, owner: group, topic, target: nameOfKey(key) },
        attempts: known.attempts,
      });
      const left = await owner.parked.release({ group, topic, key, waitMs: waitIn(context) });
      return {
        status: 200,
        body: {
          object: 'parked-key-release',
          ...outcomeOf('released', owner.name, left),
        },
      };
    },

    async discardDeadLetter(context, { params: { offset, ...named }, body: { reason } }) {
      const { owner, known } = await find(named);
      const { group, topic, key } = known;
      const id = { group, topic, key };
      const first = await firstLetter(context, owner, id);
      if (first?.offset !== offset || known.releasing)
        throw conflict(
          'dead_letter.not_first',
          'Only the oldest message of a key can be discarded, and not while the key is released; look at it again.',
        );
      await record(context, {
        ...{ kind: 'parked-key', service: owner.name, owner: group, topic, target: nameOfKey(key) },
        attempts: known.attempts,
        discarded: { partition: first.partition, offset, reason },
      });
      const left = await owner.parked.discard({ ...id, offset, waitMs: waitIn(context) });
      return { status: 200, body: { object: 'dead-letter-discard', ...outcomeOf('released', owner.name, left) } };
    },

    async forgetParkedKey(context, { params, body: { reason } }) {
      const { owner, known } = await find(params);
      const { group, topic, key, letters, since } = known;
      if (known.releasing || (await firstLetter(context, owner, { group, topic, key })) !== undefined)
        throw notForgotten();
      await record(context, {
        ...{ kind: 'parked-key', service: owner.name, owner: group, topic, target: nameOfKey(key) },
        attempts: known.attempts,
        forgotten: { letters, since, reason },
      });
      const left = await owner.parked.forget({ group, topic, key, waitMs: waitIn(context) });
      return { status: 200, body: { object: 'parked-key-forget', ...outcomeOf('forgotten', owner.name, left) } };
    },

    async listParkedStreams(_context, { query: { service, reactor, page, limit = defaultLimit } }) {
      const list = listOf('parked-streams', service, reactor);
      const [from, afterReactor = '', afterStream = ''] = positionOf(list, 3, page);
      const chosen = service === undefined ? owners : owners.filter(({ name }) => name === service);
      if (chosen.length === 0) throw notFound('service');
      const after = { reactor: afterReactor, stream: afterStream };
      const { items, more } = await pageOver(chosen, from, limit, (owner, isFirst, most) =>
        owner.parked.streams({
          ...(reactor === undefined ? {} : { reactor }),
          ...(isFirst ? { after } : {}),
          limit: most,
        }),
      );
      const last = items.at(-1);
      return {
        status: 200,
        body: {
          items: items.map((one) => presentStream(one.service, one.item)),
          ...(more && last !== undefined
            ? { next: { page: cursorOf(list, [last.service, last.item.reactor, last.item.stream]) } }
            : {}),
        },
      };
    },

    async retryParkedStream(context, { params: { service, reactor, stream } }) {
      const { owner, known } = await findStream(service, reactor, stream);
      await record(context, {
        ...{ kind: 'parked-stream', service: owner.name, owner: reactor, target: stream },
        attempts: known.attempts,
      });
      const left = await owner.parked.retry({ reactor, stream, waitMs: waitIn(context) });
      const isSame = left?.attempts === known.attempts && left.revision === known.revision;
      return {
        status: 200,
        body: {
          object: 'parked-stream-retry',
          ...(left === null
            ? { state: 'released' }
            : { state: isSame ? 'waiting' : 'parked', parked: presentStream(owner.name, left) }),
        },
      };
    },
  };
}

import { createMemoryCache } from '@bindery/cache/memory';
import { createIdSource, type OperationContext, type Principal, servicePrincipal } from '@bindery/service-kit';
import { expect, test } from '@jest/globals';
import { createRememberedTokens, type TokenAnswer } from './remembered-tokens.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const context: OperationContext = {
  principal: servicePrincipal('gateway'),
  requestId: 'r',
  now,
  ids: createIdSource('seed'),
  signal: new AbortController().signal,
  baseUrl: 'http://docs',
};
const ada: Principal = { kind: 'user', id: 'ada', tokenId: 't', instanceAdmin: false, organizations: {} };
const holds = { key: 'epoch:ada', value: 'one', until: null };

const setUp = async (answer: TokenAnswer) => {
  const cache = createMemoryCache();
  await cache.set('epoch:ada', 'one', { ttlMs: 60_000 });
  const asked: string[] = [];
  const state = { answer, away: false };
  const resolve = createRememberedTokens({
    cache: {
      get: (key) => (state.away ? Promise.reject(new Error('away')) : cache.get(key)),
    },
    ask: async (tokenHash, _context, address) => {
      asked.push(`${tokenHash} ${address}`);
      return state.answer;
    },
  });
  return { cache, asked, state, resolve };
};

test('asks once while the word in the cache is the same, and anew at the next request after it changed', async () => {
  const { cache, asked, state, resolve } = await setUp({ principal: ada, holds });
  for (let index = 0; index < 3; index += 1) expect(await resolve('h', context, '10.0.0.1')).toEqual(ada);
  expect(asked).toEqual(['h 10.0.0.1']);
  await cache.set('epoch:ada', 'two', { ttlMs: 60_000 });
  state.answer = { principal: null };
  expect(await resolve('h', context, '10.0.0.1')).toBeNull();
  expect(await resolve('h', context, '10.0.0.1')).toBeNull();
  expect(asked).toHaveLength(3);
});

test('another address is asked for by itself: the principal carries it', async () => {
  const { asked, resolve } = await setUp({ principal: ada, holds });
  await resolve('h', context, '10.0.0.1');
  await resolve('h', context, '10.0.0.2');
  expect(asked).toHaveLength(2);
});

test('nothing is used beyond the end of its token, without the cache, or without a word', async () => {
  const ended = await setUp({ principal: ada, holds: { ...holds, until: now.getTime() } });
  await ended.resolve('h', context, 'a');
  await ended.resolve('h', context, 'a');
  expect(ended.asked).toHaveLength(2);
  const away = await setUp({ principal: ada, holds });
  await away.resolve('h', context, 'a');
  away.state.away = true;
  expect(await away.resolve('h', context, 'a')).toEqual(ada);
  expect(away.asked).toHaveLength(2);
  const wordless = await setUp({ principal: ada });
  await wordless.resolve('h', context, 'a');
  await wordless.resolve('h', context, 'a');
  expect(wordless.asked).toHaveLength(2);
});

test('forgets the oldest of many', async () => {
  const { asked, resolve } = await setUp({ principal: ada, holds });
  for (let index = 0; index < 1001; index += 1) await resolve(`h${index}`, context, 'a');
  await resolve('h1000', context, 'a');
  expect(asked).toHaveLength(1001);
  await resolve('h0', context, 'a');
  expect(asked).toHaveLength(1002);
});

test('whoever asks after the cache was asked is told what holds then, though another still waits for the answer', async () => {
  let word = 'one';
  /** What is asked for is sent at the end of the turn in which the first one asked. */
  let sending: Promise<unknown> | undefined;
  const send = async (): Promise<unknown> => {
    await new Promise(setImmediate);
    sending = undefined;
    return word;
  };
  const look = (): Promise<unknown> => {
    sending ??= send();
    return sending;
  };
  const asked: string[] = [];
  const resolve = createRememberedTokens({
    cache: { get: async <T>() => (await look()) as T },
    ask: async (tokenHash) => {
      asked.push(tokenHash);
      return { principal: asked.length === 1 ? ada : null, holds };
    },
  });
  await resolve('h', context, 'a');
  const inTurn = (): Promise<Principal | null> =>
    new Promise((answer) => setImmediate(() => answer(resolve('h', context, 'a'))));
  const early = inTurn();
  const other = look();
  const late = new Promise((answer) =>
    setImmediate(() => {
      word = 'two';
      answer(resolve('h', context, 'a'));
    }),
  );
  expect([await early, await other, await late]).toEqual([ada, 'one', null]);
});

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

test('those that ask in one turn of the event loop share a look at the cache, which those of the next turn do not get', async () => {
  const looks: ((word: string | undefined) => void)[] = [];
  const asked: string[] = [];
  const cache = {
    get: <T>() => new Promise<T | undefined>((resolve) => looks.push((word) => resolve(word as T | undefined))),
  };
  const ask = async (tokenHash: string): Promise<TokenAnswer> => {
    asked.push(tokenHash);
    return { principal: ada, holds };
  };
  const resolve = createRememberedTokens({ cache, ask, together: true });
  await resolve('h', context, 'a');
  await resolve('g', context, 'a');
  const first = ['h', 'h', 'g'].map((hash) => resolve(hash, context, 'a'));
  expect(looks).toHaveLength(1);
  await new Promise(setImmediate);
  const next = resolve('h', context, 'a');
  expect(looks).toHaveLength(2);
  // The first answer came before the word changed, the second one after that.
  looks[0]?.('one');
  expect(await Promise.all(first)).toEqual([ada, ada, ada]);
  expect(asked).toEqual(['h', 'g']);
  looks[1]?.('two');
  await next;
  expect(asked).toEqual(['h', 'g', 'h']);
});

test('a look that fails sends all who share it to the identity service', async () => {
  const asked: string[] = [];
  const resolve = createRememberedTokens({
    cache: { get: () => Promise.reject(new Error('away')) },
    ask: async (tokenHash) => {
      asked.push(tokenHash);
      return { principal: ada, holds };
    },
    together: true,
  });
  await resolve('h', context, 'a');
  expect(await Promise.all(['h', 'h'].map((hash) => resolve(hash, context, 'a')))).toEqual([ada, ada]);
  expect(asked).toEqual(['h', 'h', 'h']);
});

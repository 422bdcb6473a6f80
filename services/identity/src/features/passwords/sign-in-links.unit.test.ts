import { expect, test } from '@jest/globals';
import { createSignInLinks, type SignInLinksDeps } from './sign-in-links.ts';

const context = { requestId: 'r', now: new Date('2026-01-31T09:30:00.000Z'), baseUrl: 'https://docs.example.org' };
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** @param mailsOf how many requests of one address are admitted */
const start = (mailsOf = Number.POSITIVE_INFINITY) => {
  const done: string[] = [];
  const asked = new Map<string, number>();
  const note =
    <A>(what: string, answer: A) =>
    async (): Promise<A> => {
      done.push(what);
      return answer;
    };
  // What a request for mail does not come to is not there.
  const deps = {
    digest: (email: string) => email,
    throttle: {
      admitMailTo: note('limits', true),
      admitMailFrom: async (address: string) => {
        asked.set(address, (asked.get(address) ?? 0) + 1);
        return (asked.get(address) ?? 0) <= mailsOf;
      },
    },
    holderOf: async (account: string) => {
      done.push(`look for ${account}`);
      return account === 'ada@example.org' ? 'u1' : undefined;
    },
    isActive: note('active', true),
    repository: { handle: note('link', { events: [] }) },
    secrets: { write: () => 'secret' },
    welcome: note('invited', undefined),
    onProblem: () => done.push('problem'),
  } as unknown as SignInLinksDeps;
  return { done, links: createSignInLinks(deps) };
};

test('nothing is done for a request before it is answered, whoever has the address', async () => {
  const { done, links } = start();
  for (const email of ['ada@example.org', 'nobody@example.org', 'nonsense', ''])
    await links.request({ email, address: '10.0.0.1' }, context);
  await turns();
  expect(done).toEqual([]);
  await links.settle();
  expect(done.filter((what) => what === 'limits')).toHaveLength(4);
  expect(done.filter((what) => what === 'link')).toHaveLength(1);
  expect(done.filter((what) => what === 'invited')).toHaveLength(3);
  expect(done).not.toContain('problem');
});

test('requests are bounded: more than are put off at a time are left out', async () => {
  const { done, links } = start();
  for (let count = 0; count < 600; count += 1)
    await links.request({ email: `${count}@example.org`, address: '10.0.0.1' }, context);
  await links.settle();
  expect(done.filter((what) => what === 'limits')).toHaveLength(500);
  await links.request({ email: 'ada@example.org', address: '10.0.0.1' }, context);
  await links.settle();
  expect(done).toContain('link');
});

test('a flood of one caller takes nobody the place', async () => {
  const { done, links } = start(10);
  for (let count = 0; count < 600; count += 1)
    await links.request({ email: `${count}@example.org`, address: '10.0.0.1' }, context);
  await links.request({ email: 'ada@example.org', address: '10.0.0.2' }, context);
  await links.settle();
  expect(done.filter((what) => what === 'limits')).toHaveLength(11);
  expect(done).toContain('link');
});

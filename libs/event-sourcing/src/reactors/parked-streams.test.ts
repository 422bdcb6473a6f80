import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { expect, test } from '@jest/globals';
import { ParkedStreams } from './parked-streams.ts';
import { Parking } from './parking.ts';

test('parked streams are listed in one order, however small the pages are and whatever the reactors are called', async () => {
  const store = await openSqliteReadStore({ path: ':memory:' });
  // A name that begins like another one comes before it: its next character is less than the colon.
  const reactors = ['mail', 'mail-2', 'mail2', 'drop'];
  for (const reactor of reactors) {
    const parking = await Parking.open(store, 'content', reactor);
    for (const id of ['s2', 's1', 's-1']) await parking.park(id, 1, 'no', '2026-03-01T12:00:00.000Z');
  }
  const streams = new ParkedStreams(store, 'content', 1);
  const names = (await streams.list({ limit: 100 })).map(({ reactor, stream }) => `${reactor}:${stream}`);
  expect(names).toEqual(reactors.flatMap((name) => ['s1', 's2', 's-1'].map((id) => `${name}:${id}`)).sort());
  for (const limit of [1, 2, 5]) {
    const found: string[] = [];
    for (let after: { readonly reactor: string; readonly stream: string } | undefined; ; ) {
      const page = await streams.list({ limit, ...(after === undefined ? {} : { after }) });
      found.push(...page.map(({ reactor, stream }) => `${reactor}:${stream}`));
      after = page.at(-1);
      if (page.length < limit || found.length > names.length) break;
    }
    expect(found).toEqual(names);
  }
  await store.close();
});

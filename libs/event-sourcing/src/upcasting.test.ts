import type { EventData } from '@bindery/event-store';
import { openTestPorts, testRuntime } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import { type AggregateDefinition, aggregateIdOf, documentPerStream } from './index.ts';

type PageEvent =
  | {
      readonly type: 'PageNamed';
      readonly data: { readonly name: { readonly text: string; readonly language: string } };
    }
  | { readonly type: 'PageMoved'; readonly data: { readonly to: string } };
interface NamePage {
  readonly type: 'NamePage';
  readonly data: { readonly text: string };
}

const pages: AggregateDefinition<readonly string[], NamePage, PageEvent> = {
  name: 'content.page',
  decider: {
    initialState: () => [],
    decide: ({ data }) => [{ type: 'PageNamed', data: { name: { text: data.text, language: 'en' } } }],
    evolve: (names, event) =>
      event.type === 'PageNamed' ? [...names, `${event.data.name.text}/${event.data.name.language}`] : names,
  },
  upcasters: {
    PageNamed: [
      (data) => ({ name: Object(data).title }), // 1 to 2: `title` became `name`
      (data) => ({ name: { text: Object(data).name, language: 'und' } }), // 2 to 3: a name has a language
    ],
  },
};
const namesSpec = { name: 'content.names', version: 1, indexes: [] };
const names = documentPerStream<PageEvent, { names: string[] }>({
  name: 'names',
  aggregate: pages.name,
  collection: namesSpec,
  handles: ['PageNamed'],
  evolve: (before, event) => ({
    names: [...(before?.names ?? []), event.type === 'PageNamed' ? event.data.name.language : '?'],
  }),
});

/** One of every version that was ever written; never changed, only added to (PITFALLS 37). */
const golden: readonly (readonly [number, string, unknown])[] = [
  [1, 'PageNamed', { title: 'First' }],
  [2, 'PageNamed', { name: 'Second' }],
  [3, 'PageNamed', { name: { text: 'Third', language: 'fr' } }],
  [9, 'PageNamed', { name: { text: 'From a newer release', language: 'de' } }],
  [1, 'PageEaten', { by: 'a type of a newer release' }],
];

describe('older events', () => {
  test('are read in the newest shape, by deciders, projections and publishers; new ones carry its version', async () => {
    const ports = await openTestPorts();
    const events = golden.map(
      ([schemaVersion, type, data]): EventData => ({
        id: crypto.randomUUID(),
        type,
        data,
        metadata: {
          correlationId: 'c',
          causationId: 'c',
          actor: { kind: 'user', id: 'u' },
          schemaVersion,
          time: '2025-01-01T00:00:00.000Z',
        },
      }),
    );
    await ports.eventStore.append('content.page-p1', events, 'no-stream');
    const { runtime, metadata, settled, stop } = await testRuntime({
      service: 'content',
      projections: [names],
      publicMapping: (event) =>
        event.type === 'PageNamed'
          ? [{ type: 'bindery.content.page.named.v1', subject: aggregateIdOf(event.stream), data: Object(event.data) }]
          : [],
      ports,
    });
    const repository = runtime.repository(pages);
    await runtime.start();
    const folded = ['First/und', 'Second/und', 'Third/fr', 'From a newer release/de'];
    expect((await repository.load('p1')).state).toEqual(folded);
    const { events: written } = await repository.handle('p1', { type: 'NamePage', data: { text: 'New' } }, metadata());
    expect(written[0]?.metadata.schemaVersion).toBe(3);
    expect((await runtime.live(namesSpec).get('p1'))?.document).toEqual({ names: ['und', 'und', 'fr', 'de', 'en'] });
    await settled();
    const published = (await ports.bus.last('bindery.content.v1', 10)).map(({ event }) => Object(event.data).name.text);
    expect(published).toEqual(['First', 'Second', 'Third', 'From a newer release', 'New']);
    await stop();
    await ports.remove();
  });
});

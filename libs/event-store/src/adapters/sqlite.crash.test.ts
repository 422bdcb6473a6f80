import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildScript, crashLoop } from '@bindery/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RecordedEvent } from '../port.ts';
import { openSqliteEventStore } from './sqlite.ts';

const script = new URL('./sqlite.crash-child.ts', import.meta.url);

describe('processes that share an event store file', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-crash-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const readAll = async (path: string): Promise<RecordedEvent[]> => {
    const store = openSqliteEventStore({ path });
    const events: RecordedEvent[] = [];
    for await (const event of store.readAll()) events.push(event);
    expect(await store.count()).toBe(events.length);
    await store.close();
    return events;
  };

  /** Every acknowledged event is there once, where it was said to be, and no stream has a gap. */
  const check = (events: readonly RecordedEvent[], acknowledged: readonly string[]): void => {
    const next = new Map<string, number>();
    for (const { stream, revision } of events) {
      expect(revision).toBe(next.get(stream) ?? 0);
      next.set(stream, revision + 1);
    }
    const stored = new Set(events.map(({ id, stream, revision }) => `${id} ${stream} ${revision}`));
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(acknowledged.filter((line) => !stored.has(line))).toEqual([]);
  };

  test('kill -9 at any instant: every acknowledged event is there exactly once, without gaps', async () => {
    const path = join(folder, 'killed.db');
    const acknowledged: string[] = [];
    let unacknowledged = 0;
    await crashLoop({
      script,
      args: [path, 'a.x-1,a.x-2,a.y-3,b.z-4'],
      rounds: 10,
      leastLines: 20,
      withinMs: 120,
      afterCrash: async (_round, lines) => {
        acknowledged.push(...lines);
        const events = await readAll(path);
        check(events, acknowledged);
        unacknowledged = events.length - acknowledged.length;
      },
    });
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(unacknowledged).toBeLessThanOrEqual(10 * 4 * 3); // at most what was under way at each kill
    // Ten starts of a process: on a busy machine they take their time.
  }, 90_000);

  test('two processes write to the same streams while a third follows', async () => {
    const path = join(folder, 'shared.db');
    const store = openSqliteEventStore({ path, pollMs: 5 });
    const abort = new AbortController();
    const followed: RecordedEvent[] = [];
    const total = 2 * 2 * (1 + 2 + 3) * 20;
    const following = (async () => {
      for await (const item of store.subscribe({ signal: abort.signal })) {
        if (item.kind === 'events') followed.push(...item.events);
        if (followed.length >= total) abort.abort();
      }
    })();
    const writers = [1, 2].map(() => new ChildScript(script, [path, 'a.x-1,a.x-2', '60']));
    await Promise.all(writers.map((writer) => writer.end()));
    await following;
    await store.close();
    const events = await readAll(path);
    check(
      events,
      writers.flatMap(({ lines }) => lines),
    );
    expect(events).toHaveLength(total);
    expect(followed).toEqual(events);
  });
});

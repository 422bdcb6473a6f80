import { describe, expect, test } from '@jest/globals';
import type { RecordedEvent } from '../../port.ts';
import { RecentEvents, type SizedEvent } from './recent.ts';

const metadata: RecordedEvent['metadata'] = {
  correlationId: 'c',
  causationId: 'c',
  actor: { kind: 'user', id: 'u' },
  schemaVersion: 1,
  time: '2026-01-01T00:00:00.000Z',
};
const at = (position: number, length = 100): SizedEvent => ({
  event: { id: String(position), stream: 's', revision: position, position, type: 'T', data: {}, metadata },
  length,
});
const range = (first: number, last: number, length?: number): SizedEvent[] =>
  Array.from({ length: last - first + 1 }, (_, index) => at(first + index, length));
const positions = (events: readonly SizedEvent[] | undefined): number[] | undefined =>
  events?.map(({ event }) => event.position);

describe('the newest events at hand', () => {
  test('answer for what lies between a position and the head, if all of it is there', () => {
    const recent = new RecentEvents();
    expect(recent.between(0, 0)).toBeUndefined();
    recent.add(range(5, 9));
    expect(positions(recent.between(4, 9))).toEqual([5, 6, 7, 8, 9]);
    expect(positions(recent.between(7, 9))).toEqual([8, 9]);
    expect(recent.between(3, 9)).toBeUndefined();
  });

  test('do not answer when another process has written after them', () => {
    const recent = new RecentEvents();
    recent.add(range(1, 3));
    expect(recent.between(1, 4)).toBeUndefined();
  });

  test('begin anew behind the events of another process', () => {
    const recent = new RecentEvents();
    recent.add(range(1, 3));
    recent.add(range(5, 6));
    expect(recent.between(2, 6)).toBeUndefined();
    expect(positions(recent.between(4, 6))).toEqual([5, 6]);
  });

  test('are bounded by number', () => {
    const recent = new RecentEvents();
    for (let position = 1; position <= 10_000; position += 1) recent.add([at(position)]);
    expect(recent.between(5_000, 10_000)).toBeUndefined();
    expect(recent.between(9_000, 10_000)).toHaveLength(1000);
  });

  test('are bounded by length, down to nothing when one event is too large', () => {
    const recent = new RecentEvents();
    for (let position = 1; position <= 40; position += 1) recent.add([at(position, 1024 * 1024)]);
    expect(recent.between(30, 40)).toBeUndefined();
    expect(recent.between(39, 40)).toHaveLength(1);
    recent.add([at(41, 16 * 1024 * 1024)]);
    expect(recent.between(40, 41)).toBeUndefined();
    recent.add([at(42)]);
    expect(positions(recent.between(41, 42))).toEqual([42]);
  });
});

import { publicEvents } from '@bindery/contracts';
import { describe, expect, test } from '@jest/globals';
import { comment, partSamples } from './public-event-parts.testing.ts';
import { at, committed, edited, mapping, ofSpace, recorded, secret, spaceSamples } from './public-events.testing.ts';
import type { SpaceEvent } from './spaces/index.ts';

const samples = [...spaceSamples, ...partSamples];

describe('public events', () => {
  test.each(samples)('%s has its type, its key and nothing private', (name, events) => {
    expect(events).toHaveLength(1);
    expect(events[0]?.type).toBe(`bindery.content.${name}.v1`);
    const subjects = {
      'change-request': 'cr1',
      collection: 'c1',
      comment: 'm1',
      'comment-reply': 'm1',
      'openapi-spec': 'spec1',
    } as const;
    const [thing] = name.split('.');
    expect(events[0]?.subject).toBe(subjects[thing as keyof typeof subjects] ?? 'space1');
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test('every event of the catalogue is said by something', () => {
    const declared = [...publicEvents.values()].filter(({ owner }) => owner === 'content').map(({ type }) => type);
    expect(samples.map(([, [event]]) => event?.type ?? '').sort()).toEqual([...declared].sort());
  });

  test('a large revision lists a hundred pages and says that there are more', () => {
    const [large] = ofSpace(committed(edited(150)));
    expect(large?.data.pages).toHaveLength(100);
    expect(large?.data.complete).toBe(false);
    expect(ofSpace(committed(edited(100)))[0]?.data.complete).toBe(true);
    expect(ofSpace(committed([], 3))[0]?.data.complete).toBe(false);
  });

  test('steps that mean nothing outside are not told', () => {
    const silent: readonly SpaceEvent[] = [
      { type: 'MergeAbandoned', data: { spaceId: 'space1', changeRequestId: 'cr1', mergeId: 'r2', abandonedAt: at } },
      {
        type: 'RevisionPartRecorded',
        data: { spaceId: 'space1', revisionId: 'r2', part: 0, changes: edited(1), documents: [] },
      },
    ];
    expect(silent.flatMap(ofSpace)).toEqual([]);
    expect(mapping(recorded({ type: 'SpaceDeleted', data: {} }, 'content.other-1'))).toEqual([]);
    const purged = { ...comment, replies: [], deletedBy: 'content', deletedAt: at, purged: true };
    expect(mapping(recorded({ type: 'CommentDeleted', data: purged }, 'content.comment-m1'))).toEqual([]);
  });
});

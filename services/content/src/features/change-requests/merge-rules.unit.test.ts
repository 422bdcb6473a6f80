import { isProblem } from '@bindery/service-kit';
import { specification } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import { type ChangeRequestCommand, changeRequestDecider } from './decider.ts';
import type { ChangeRequestEvent, ReviewStatus } from './events.ts';
import type { MergeRule } from './merge-rules.ts';

const changeRequest = specification(changeRequestDecider);
const ids = { spaceId: 's1', organizationId: 'o1', changeRequestId: 'c1' };
const at = '2026-01-01T00:00:00.000Z';
const opened = (more: object = {}): ChangeRequestEvent => ({
  type: 'ChangeRequestOpened',
  data: {
    ...{ ...ids, number: 7, subject: 'S', status: 'open', revisionInitial: 'r0', createdBy: 'author', createdAt: at },
    ...more,
  },
});
const edited = (revisionId: string, parent: string): ChangeRequestEvent => ({
  type: 'ChangeRequestEdited',
  data: { ...ids, revisionId, parent, changes: [], documents: [], editedBy: 'author', editedAt: at },
});
const updated: ChangeRequestEvent = {
  type: 'ChangeRequestUpdated',
  data: {
    ...{ ...ids, revisionId: 'b9', parents: ['r0', 'r1'], primaryRevision: 'r1', changes: [], documents: [] },
    ...{ conflicts: [], updatedBy: 'author', updatedAt: at },
  },
};
const described = (data: object): ChangeRequestEvent => ({
  type: 'ChangeRequestDescribed',
  data: { ...ids, ...data, changedBy: 'author', changedAt: at },
});
const reviewed = (
  reviewer: string,
  status: ReviewStatus,
  revisionId = 'r0',
  more: object = {},
): ChangeRequestEvent => ({
  type: 'ChangeRequestReviewed',
  data: { ...ids, reviewId: `v-${reviewer}`, revisionId, status, reviewer, reviewedAt: at, ...more },
});
const approved = (reviewer: string, revisionId = 'r0') => reviewed(reviewer, 'approved', revisionId);
const wants = (reviewer: string, revisionId = 'r0') => reviewed(reviewer, 'changes-requested', revisionId);
const document = (...nodes: readonly object[]) => ({ object: 'document' as const, data: {}, nodes: [...nodes] });
const paragraph = (text: string) => ({
  object: 'block',
  type: 'paragraph',
  isVoid: false,
  data: {},
  nodes: [{ object: 'text', leaves: [{ object: 'leaf', text, marks: [] }] }],
});

interface Merge {
  readonly by?: string;
  readonly revisionId?: string;
  readonly primary?: string;
  /** Everybody else may. */
  readonly mayNot?: readonly string[];
}
const reviewers = ['author', 'ann', 'bob', 'cid'];
const start = (rules: readonly MergeRule[], merge: Merge = {}): ChangeRequestCommand => {
  const { by = 'ann', revisionId = 'r0', primary = 'r0', mayNot = [] } = merge;
  const mayReview = new Map(reviewers.map((user) => [user, !mayNot.includes(user)]));
  return {
    type: 'StartMerge',
    data: { mergeId: 'm1', revisionId, startedBy: by, startedAt: at, facts: { rules, primary, mayReview } },
  };
};
/** The message of the refusal; undefined when the merge starts. */
const refusal = (past: readonly ChangeRequestEvent[], command: ChangeRequestCommand): string | undefined => {
  const state = past.reduce(changeRequestDecider.evolve, changeRequestDecider.initialState());
  try {
    const [event] = changeRequestDecider.decide(command, state);
    expect(event?.type).toBe('ChangeRequestMergeStarted');
    return undefined;
  } catch (error) {
    if (!isProblem(error) || error.code !== 'change_request.merge_rules') throw error;
    return error.message;
  }
};

type Named = Extract<MergeRule, { users: unknown }>['rule'];
const plain = (rule: Exclude<MergeRule['rule'], Named | 'custom'>): MergeRule => ({ rule });
const naming = (rule: Named, ...users: readonly string[]): MergeRule => ({ rule, users: [...users] });

const before = [opened()];
const moved = [opened(), edited('b1', 'r0')];
/** What came before, the merge, and what its refusal must say; undefined: it is let through. */
type Case = readonly [string, readonly ChangeRequestEvent[], Merge, string | undefined];
const cases: readonly (readonly [MergeRule, readonly Case[]])[] = [
  [
    naming('require_specific_reviewers', 'ann', 'bob'),
    [
      ['nobody approved', before, {}, 'each of these must approve its current revision: ann, bob.'],
      ['one did', [...before, approved('ann')], {}, ': bob.'],
      ['all did', [...before, approved('ann'), approved('bob'), wants('cid')], {}, undefined],
      [
        'one changed its mind',
        [...before, approved('ann'), approved('bob'), wants('bob')],
        {},
        'bob (requested changes)',
      ],
      [
        'it moved on',
        [opened(), approved('ann'), edited('b1', 'r0'), approved('bob', 'b1')],
        { revisionId: 'b1' },
        ': ann (approved an earlier revision).',
      ],
      [
        'one may review no more',
        [...before, approved('ann'), approved('bob')],
        { mayNot: ['bob'] },
        'bob (reviewed it, but may not review here any more)',
      ],
    ],
  ],
  [
    naming('require_specific_reviewers', 'author'),
    [['it names the author', [...before, approved('author')], {}, 'author (is its author, whose own review does not']],
  ],
  [naming('require_specific_reviewers'), [['it names nobody', before, {}, undefined]]],
  [
    naming('require_one_of_specific_reviewers', 'ann', 'bob'),
    [
      [
        'somebody else approved',
        [...before, approved('cid')],
        {},
        'one of these must approve its current revision: ann, bob.',
      ],
      ['one did', [...before, wants('ann'), approved('bob')], {}, undefined],
      [
        'it moved on',
        [opened(), approved('bob'), edited('b1', 'r0')],
        { revisionId: 'b1' },
        'bob (approved an earlier',
      ],
      ['the one who did left', [...before, approved('bob')], { mayNot: ['bob'] }, 'may not review here any more'],
    ],
  ],
  [
    naming('require_one_of_specific_reviewers'),
    [['it names nobody', [...before, approved('ann')], {}, 'it names nobody; an administrator must change it.']],
  ],
  [
    plain('require_at_least_one_review'),
    [
      ['there is none', before, {}, 'nobody has reviewed its current revision'],
      ['changes were requested', [...before, wants('bob')], {}, undefined],
      ['the author reviewed', [...before, approved('author')], {}, 'somebody other than its author must.'],
      [
        'of an earlier revision',
        [opened(), approved('bob'), edited('b1', 'r0')],
        { revisionId: 'b1' },
        'nobody has reviewed',
      ],
      ['of somebody who left', [...before, approved('bob')], { mayNot: ['bob'] }, 'nobody has reviewed'],
    ],
  ],
  [
    plain('require_at_least_one_approved_review'),
    [
      ['changes were requested', [...before, wants('bob')], {}, 'nobody has approved its current revision'],
      ['one approved, one did not', [...before, wants('bob'), approved('cid')], {}, undefined],
      ['after an edit', [opened(), approved('bob'), edited('b1', 'r0')], { revisionId: 'b1' }, 'nobody has approved'],
      ['the author approved', [...before, approved('author')], { by: 'author' }, 'nobody has approved'],
    ],
  ],
  [
    plain('require_all_reviews_approved'),
    [
      ['there is no review', before, {}, undefined],
      ['one requested changes', [...before, approved('ann'), wants('bob')], {}, ': bob (requested changes).'],
      ['it approved later', [...before, wants('bob'), approved('bob')], {}, undefined],
      ['it left', [...before, approved('ann'), wants('bob')], { mayNot: ['bob'] }, undefined],
      [
        'of an earlier revision',
        [opened(), approved('bob'), edited('b1', 'r0')],
        { revisionId: 'b1' },
        'bob (approved an',
      ],
      ['the author requested changes', [...before, wants('author')], {}, undefined],
    ],
  ],
  [
    plain('require_agent_review'),
    [['everybody approved', [...before, approved('ann')], {}, 'there are no agents here']],
  ],
  [
    plain('require_up_to_date_change_request'),
    [
      ['the space is where it was', moved, { revisionId: 'b1' }, undefined],
      ['the space moved on', before, { primary: 'r1' }, 'update the change request first.'],
      ['it was updated', [opened(), updated], { revisionId: 'b9', primary: 'r1' }, undefined],
    ],
  ],
  [
    plain('require_change_request_subject'),
    [
      ['there is one', before, {}, undefined],
      ['it is empty', [opened({ subject: '' })], {}, 'it has no subject'],
      ['it is blank', [opened({ subject: ' \u00a0 ' })], {}, 'it has no subject'],
    ],
  ],
  [
    plain('require_change_request_description'),
    [
      ['there is none', before, {}, 'it has no description'],
      ['it is blank', [opened(), described({ description: document(paragraph('  ')) })], {}, 'it has no description'],
      ['it says something', [opened(), described({ description: document(paragraph('Why')) })], {}, undefined],
      [
        'it is a picture',
        [
          opened(),
          described({ description: document({ object: 'block', type: 'images', isVoid: false, data: {}, nodes: [] }) }),
        ],
        {},
        undefined,
      ],
    ],
  ],
  [
    plain('require_author_to_merge'),
    [
      ['the author merges', before, { by: 'author' }, undefined],
      ['somebody else does', before, { by: 'ann' }, 'only its author, author, may merge it.'],
    ],
  ],
  [
    { rule: 'custom', expression: 'true', message: 'Ask legal' },
    [
      [
        'it was stored before it was refused',
        [...before, approved('ann')],
        {},
        'Ask legal; an administrator must remove',
      ],
    ],
  ],
  [naming('allow_bypass'), [['it stands alone', before, {}, undefined]]],
];

describe.each(cases.map(([rule, rows]) => [rule.rule, rule, rows] as const))('%s', (name, rule, rows) => {
  test.each(rows)('%s', (_case, past, merge, says) => {
    const message = refusal(past, start([rule], merge));
    if (says === undefined) expect(message).toBeUndefined();
    else {
      expect(message).toContain(`Change request 7 cannot be merged yet. ${name}: `);
      expect(message).toContain(says);
    }
  });
});

describe('several rules', () => {
  const rules = [plain('require_at_least_one_approved_review'), plain('require_author_to_merge')];
  const bypassing = [naming('allow_bypass', 'ann'), ...rules];
  test('must all be met; the refusal names every one that is not', () => {
    const message = refusal(before, start(rules));
    expect(message).toContain('require_at_least_one_approved_review: nobody');
    expect(message).toContain('require_author_to_merge: only');
    expect(refusal([...before, approved('ann')], start(rules))).not.toContain('require_at_least_one_approved_review');
    expect(refusal([...before, approved('ann')], start(rules, { by: 'author' }))).toBeUndefined();
  });
  test('are passed over by those whom a bypass names, on the record from the start to the end', () => {
    const bypassed = rules.map(({ rule }) => rule);
    const data = { ...ids, mergeId: 'm1', revisionId: 'r0', startedBy: 'ann', startedAt: at, bypassed };
    const started: ChangeRequestEvent = { type: 'ChangeRequestMergeStarted', data };
    changeRequest.given(before).when(start(bypassing)).thenEvents([started]);
    changeRequest
      .given(before)
      .when(start(bypassing, { by: 'bob' }))
      .thenRefuses('change_request.merge_rules');
    const done = { mergeId: 'm1', revisionMerged: 'm1', mergedBy: 'ann', mergedAt: at };
    changeRequest
      .given([...before, started])
      .when({ type: 'CompleteMerge', data: done })
      .thenEvents([{ type: 'ChangeRequestMerged', data: { ...ids, ...done, bypassed } }]);
  });
  test('that were met leave no trace of a bypass', () => {
    changeRequest
      .given([opened({ createdBy: 'ann' }), approved('bob')])
      .when(start(bypassing))
      .thenState((_state, [event]) => expect(event?.data).not.toHaveProperty('bypassed'));
  });
  test('name ten people of a hundred', () => {
    const many = Array.from({ length: 100 }, (_, index) => `user${index}`);
    const message = refusal(before, start([naming('require_specific_reviewers', ...many)]));
    expect(message).toMatch(/user9 and 90 more\.$/);
  });
});

test('a reviewer who is asked no longer has still reviewed', () => {
  const removed: ChangeRequestEvent = {
    type: 'ChangeRequestReviewerRemoved',
    data: { ...ids, kind: 'user', id: 'ann', removedBy: 'author', removedAt: at },
  };
  expect(
    refusal([...before, approved('ann'), removed], start([naming('require_specific_reviewers', 'ann')])),
  ).toBeUndefined();
});

describe('what is decided with', () => {
  test('a review that came after the facts were read has them read again', () => {
    const rules = [plain('require_at_least_one_approved_review')];
    changeRequest
      .given([...before, approved('new')])
      .when(start(rules))
      .thenRefuses('change_request.moved');
  });
  test('an edit after the approval that was read refuses the merge of what was approved', () => {
    const rules = [plain('require_at_least_one_approved_review')];
    changeRequest
      .given([opened(), approved('ann'), edited('b1', 'r0')])
      .when(start(rules))
      .thenRefuses('change_request.moved');
  });
  test('a merge under way is asked again: the space may have moved', () => {
    const rules = [plain('require_up_to_date_change_request')];
    const data = { ...ids, mergeId: 'm1', revisionId: 'r0', startedBy: 'ann', startedAt: at };
    const under = [...before, { type: 'ChangeRequestMergeStarted', data } as const];
    changeRequest.given(under).when(start(rules)).thenNothing();
    changeRequest
      .given(under)
      .when(start(rules, { primary: 'r1' }))
      .thenRefuses('change_request.merge_rules');
  });
});

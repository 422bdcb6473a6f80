import type { JSONDocument } from '@bindery/contracts';
import { specification } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import { type CommentCommand, commentDecider } from './decider.ts';
import type { CommentEvent } from './events.ts';
import { readEmoji } from './reaction-rules.ts';
import { isThere } from './state.ts';

const comment = specification(commentDecider);
const ids = { spaceId: 's1', organizationId: 'o1', commentId: 'm1' };
const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-02T00:00:00.000Z';
const document: JSONDocument = { object: 'document', data: {}, nodes: [] };
const body = (markdown: string) => ({ document, markdown });
const facts = { ...ids, target: { revision: 'r1' }, body: body('Hello'), postedBy: 'u1', postedAt: at };
const posted: CommentEvent = { type: 'CommentPosted', data: facts };
const deleted: CommentEvent = {
  type: 'CommentDeleted',
  data: { ...ids, replies: [], deletedBy: 'u1', deletedAt: later },
};
const resolved: CommentEvent = { type: 'CommentResolved', data: { ...ids, resolvedBy: 'u2', resolvedAt: later } };
const reacted = (by: string, added: readonly string[], removed: readonly string[] = []): CommentEvent => ({
  type: 'CommentReactionsChanged',
  data: { ...ids, added, removed, changedBy: by, changedAt: later },
});
const replied = (replyId: string, number: number): CommentEvent => ({
  type: 'CommentReplyPosted',
  data: { ...ids, replyId, number, body: body('Yes'), postedBy: 'u2', postedAt: later },
});
const update = (
  data: Omit<Extract<CommentCommand, { type: 'UpdateComment' }>['data'], 'by' | 'at' | 'organizationId'>,
  by = 'u2',
) => ({ type: 'UpdateComment', data: { ...data, organizationId: 'o1', by, at: later } }) as const;
const reply = (replyId: string): CommentCommand => ({
  type: 'PostReply',
  data: { replyId, body: body('Yes'), organizationId: 'o1', by: 'u2', at: later },
});

describe('a comment', () => {
  test('is posted once, whatever becomes of it', () => {
    const post: CommentCommand = { type: 'PostComment', data: facts };
    comment.given([]).when(post).thenEvents([posted]);
    comment.given([posted]).when(post).thenNothing();
    comment.given([posted, deleted]).when(post).thenNothing();
  });

  test('says something else, or nothing happens', () => {
    const edited: CommentEvent = {
      type: 'CommentEdited',
      data: { ...ids, body: body('Bye'), editedBy: 'u2', editedAt: later },
    };
    comment
      .given([posted])
      .when(update({ body: body('Bye') }))
      .thenEvents([edited]);
    comment
      .given([posted])
      .when(update({ body: body('Hello') }))
      .thenNothing();
    comment
      .given([posted, edited])
      .when(update({ body: body('Bye') }))
      .thenNothing();
    comment.given([posted]).when(update({})).thenNothing();
  });

  test('is resolved and opened again', () => {
    const reopened: CommentEvent = { type: 'CommentReopened', data: { ...ids, reopenedBy: 'u2', reopenedAt: later } };
    comment
      .given([posted])
      .when(update({ resolved: true }))
      .thenEvents([resolved]);
    comment
      .given([posted, resolved])
      .when(update({ resolved: true }))
      .thenNothing();
    comment
      .given([posted, resolved])
      .when(update({ resolved: false }))
      .thenEvents([reopened]);
    comment
      .given([posted])
      .when(update({ resolved: false }))
      .thenNothing();
  });

  test('several changes at once', () => {
    const change = update({ body: body('Bye'), resolved: true, reactions: { added: ['👍'], removed: [] } });
    const types = commentDecider
      .decide(change, commentDecider.evolve({ status: 'none' }, posted))
      .map(({ type }) => type);
    expect(types).toEqual(['CommentEdited', 'CommentResolved', 'CommentReactionsChanged']);
  });

  test('one reaction for each user and emoji', () => {
    const add = (emoji: string) => update({ reactions: { added: [emoji], removed: [] } });
    comment
      .given([posted])
      .when(add('👍'))
      .thenEvents([reacted('u2', ['👍'])]);
    comment
      .given([posted, reacted('u2', ['👍'])])
      .when(add('👍'))
      .thenNothing();
    comment
      .given([posted, reacted('u1', ['👍'])])
      .when(add('👍'))
      .thenEvents([reacted('u2', ['👍'])]);
    const remove = update({ reactions: { added: [], removed: ['👍'] } });
    comment
      .given([posted, reacted('u1', ['👍'])])
      .when(remove)
      .thenNothing();
    comment
      .given([posted, reacted('u2', ['👍'])])
      .when(remove)
      .thenEvents([reacted('u2', [], ['👍'])]);
  });

  test('no more reactions than fit, but they can still be taken off', () => {
    const kinds = Array.from({ length: 20 }, (_, index) => String.fromCodePoint(0x1f600 + index));
    const full = [posted, reacted('u2', kinds)];
    const more = update({ reactions: { added: ['👍'], removed: [] } });
    comment.given(full).when(more).thenRefuses('comment.too_many_reactions');
    const swap = { added: ['👍'], removed: kinds.slice(0, 1) };
    comment
      .given(full)
      .when(update({ reactions: swap }))
      .thenEvents([reacted('u2', swap.added, swap.removed)]);
    const many = Array.from({ length: 500 }, (_, index) => reacted(`user${index}`, ['👍']));
    comment
      .given([posted, ...many])
      .when(more)
      .thenRefuses('comment.too_many_reactions');
  });

  test('takes its replies with it, and is deleted once', () => {
    const remove: CommentCommand = { type: 'DeleteComment', data: { organizationId: 'o1', by: 'u1', at: later } };
    comment
      .given([posted, replied('a1', 1)])
      .when(remove)
      .thenEvents([{ type: 'CommentDeleted', data: { ...ids, replies: ['a1'], deletedBy: 'u1', deletedAt: later } }]);
    comment.given([posted, deleted]).when(remove).thenNothing();
    comment.given([]).when(remove).thenNothing();
    comment.given([posted, deleted]).when(update({})).thenRefuses('comment.not_found');
    comment.given([posted, deleted]).when(reply('a1')).thenRefuses('comment.not_found');
  });
});

describe('a reply', () => {
  test('is posted once, under the next number', () => {
    comment
      .given([posted])
      .when(reply('a1'))
      .thenEvents([replied('a1', 1)]);
    comment
      .given([posted, replied('a1', 1)])
      .when(reply('a1'))
      .thenNothing();
    const gone: CommentEvent = {
      type: 'CommentReplyDeleted',
      data: { ...ids, replyId: 'a1', deletedBy: 'u2', deletedAt: later },
    };
    comment
      .given([posted, replied('a1', 1), gone])
      .when(reply('a2'))
      .thenEvents([replied('a2', 2)]);
    comment
      .given([posted, replied('a1', 1)])
      .when({ type: 'DeleteReply', data: { replyId: 'a1', organizationId: 'o1', by: 'u2', at: later } })
      .thenEvents([gone]);
    comment
      .given([posted])
      .when({ type: 'DeleteReply', data: { replyId: 'a1', organizationId: 'o1', by: 'u2', at: later } })
      .thenNothing();
  });

  test('a thousand at most', () => {
    const full = [posted, ...Array.from({ length: 1000 }, (_, index) => replied(`a${index}`, index + 1))];
    comment.given(full).when(reply('b1')).thenRefuses('comment.too_many_replies');
  });

  test('is changed at the version that was seen', () => {
    const change = (expectedVersion?: number): CommentCommand => ({
      type: 'UpdateReply',
      data: {
        replyId: 'a1',
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
        body: body('No'),
        reactions: { added: ['👍'], removed: [] },
        organizationId: 'o1',
        by: 'u2',
        at: later,
      },
    });
    const edited: CommentEvent = {
      type: 'CommentReplyEdited',
      data: { ...ids, replyId: 'a1', body: body('No'), editedBy: 'u2', editedAt: later },
    };
    const liked: CommentEvent = {
      type: 'CommentReplyReactionsChanged',
      data: { ...ids, replyId: 'a1', added: ['👍'], removed: [], changedBy: 'u2', changedAt: later },
    };
    const before = [posted, replied('a1', 1)];
    comment.given(before).when(change(0)).thenEvents([edited, liked]);
    comment.given(before).when(change(1)).thenRefuses('precondition.failed');
    comment
      .given([...before, edited, liked])
      .when(change(2))
      .thenNothing();
    comment
      .given([...before, edited, liked])
      .when(change(0))
      .thenRefuses('precondition.failed');
    comment.given([posted]).when(change()).thenRefuses('reply.not_found');
  });

  test('facts about replies that are not there change nothing', () => {
    const state = commentDecider.evolve({ status: 'none' }, posted);
    const after = commentDecider.evolve(state, {
      type: 'CommentReplyEdited',
      data: { ...ids, replyId: 'a9', body: body('No'), editedBy: 'u2', editedAt: later },
    });
    expect(isThere(after) && after.replies.size).toBe(0);
  });
});

describe('emoji', () => {
  test.each([
    ['👍', '👍'],
    ['1f44d', '👍'],
    ['U+1F44D', '👍'],
    ['👍🏽', '👍🏽'],
    ['1f468-200d-1f4bb', '👨‍💻'],
    ['❤', '❤️'],
    ['2764', '❤️'],
    ['🏳‍🌈', '🏳️‍🌈'],
    ['🇺🇦', '🇺🇦'],
    ['#️⃣', '#️⃣'],
  ])('%s is one', (given, expected) => {
    expect(readEmoji(given, 'f')).toBe(expected);
  });

  test.each([
    'a',
    'thumbsup',
    '👍👍',
    '',
    ' ',
    '👍 ',
    'd83d',
    'ffffff',
    '\u0000',
    '\uD83D',
    '12',
    '<b>',
    '0031',
    'x'.repeat(50),
    '👍\u200D',
  ])('%j is none', (given) => {
    expect(() => readEmoji(given, 'body.addedReactions[0]')).toThrow(/body\.addedReactions\[0\]/);
  });
});

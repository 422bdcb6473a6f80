import { limits } from '@bindery/contracts';
import { conflict, invalid } from '@bindery/service-kit';

/** One user's emoji on a comment or reply. */
export interface Reaction {
  readonly emoji: string;
  readonly user: string;
  /** ISO time. */
  readonly at: string;
}

/** Emoji that a user adds and removes. */
export interface ReactionChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const oneEmoji = /^\p{RGI_Emoji}$/v;
const codePoints = /^(?:U\+)?[0-9a-f]{2,6}(?:[-_ ](?:U\+)?[0-9a-f]{2,6}){0,11}$/i;
/** Says that the character before it is shown as an emoji; often left out. */
const asEmoji = '\u{FE0F}';
const highest = 0x10ffff;

const fromCodePoints = (text: string): string => {
  if (!codePoints.test(text)) return text;
  const points = text.split(/[-_ ]/).map((point) => Number.parseInt(point.replace(/^U\+/i, ''), 16));
  return points.every((point) => point <= highest) ? String.fromCodePoint(...points) : text;
};

/**
 * An emoji in the one form in which it is stored and answered: the characters of its recommended sequence. Callers may give
 * them, or their code points in hex, `1f44d` or `1f468-200d-1f4bb` (resources section 0).
 * @param field for the message: `body.addedReactions[0]`
 * @throws Problem invalid
 */
export const readEmoji = (given: string, field: string): string => {
  const text = fromCodePoints(given);
  const bare = text.replaceAll(asEmoji, '');
  const found = [text, bare, `${bare}${asEmoji}`, bare.replace(/^(.)/su, `$1${asEmoji}`)].find((it) =>
    oneEmoji.test(it),
  );
  if (found === undefined) throw invalid('comment.no_emoji', `${field}: is not one emoji, or its code points in hex`);
  return found;
};

/** Reads both lists of a request. What is in both is added. @throws Problem invalid */
export const readReactionChange = (
  added: readonly string[] = [],
  removed: readonly string[] = [],
): ReactionChange | undefined => {
  const adds = new Set(added.map((emoji, index) => readEmoji(emoji, `body.addedReactions[${index}]`)));
  const removes = new Set(removed.map((emoji, index) => readEmoji(emoji, `body.removedReactions[${index}]`)));
  const kept = [...removes].filter((emoji) => !adds.has(emoji));
  return adds.size + kept.length === 0 ? undefined : { added: [...adds], removed: kept };
};

/** Reactions after a change by one user. Never throws. */
export const applyReactions = (
  reactions: readonly Reaction[],
  { added, removed }: ReactionChange,
  user: string,
  at: string,
): readonly Reaction[] => [
  ...reactions.filter((it) => it.user !== user || !removed.includes(it.emoji)),
  ...added.map((emoji) => ({ emoji, user, at })),
];

/**
 * What of a change makes a difference; undefined when nothing does.
 * @throws Problem conflict when there would be more reactions than fit
 */
export const effectiveChange = (
  reactions: readonly Reaction[],
  change: ReactionChange,
  user: string,
): ReactionChange | undefined => {
  const mine = new Set(reactions.flatMap((it) => (it.user === user ? it.emoji : [])));
  const added = change.added.filter((emoji) => !mine.has(emoji));
  const removed = change.removed.filter((emoji) => mine.has(emoji));
  if (added.length + removed.length === 0) return undefined;
  const after = applyReactions(reactions, { added, removed }, user, '');
  const { reactions: most, reactionKinds: kinds } = limits.comment;
  if (added.length > 0 && after.length > most)
    throw conflict('comment.too_many_reactions', `There can be ${most} reactions at most.`);
  if (added.length > 0 && new Set(after.map(({ emoji }) => emoji)).size > kinds)
    throw conflict('comment.too_many_reactions', `There can be ${kinds} different emoji at most.`);
  return { added, removed };
};

import type { Comment, CommentReply } from '@bindery/contracts';
import type { Handled } from '@bindery/event-sourcing';
import type { Stored } from '@bindery/read-store';
import { etagOf, notFound, preconditionFailed } from '@bindery/service-kit';
import type { CommentDeps } from './deps.ts';
import type { CommentEvent } from './events.ts';
import type { Place } from './place.ts';
import { presentComment, presentReply, type View } from './present.ts';
import type { CommentDocument, ReplyDocument } from './read-model/document.ts';
import { evolveComment, evolveReply } from './read-model/projection.ts';
import type { CommentState } from './state.ts';

type Done = Handled<CommentState, CommentEvent>;

/** The revision or version that `If-Match` asks for; undefined when it asks for none. @throws Problem precondition */
export const expectedTag = (ifMatch: string | undefined): number | undefined => {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  if (!/^\d{1,15}$/.test(ifMatch)) throw preconditionFailed('If-Match: is not a tag of this.');
  return Number(ifMatch);
};

/** What to answer about one comment. Its entity tag is the revision of its stream. */
export const answerComment = (
  view: View,
  { document, revision }: Pick<Stored<CommentDocument>, 'document' | 'revision'>,
): { readonly body: Comment; readonly etag: string } => ({
  body: presentComment(view, document),
  etag: etagOf(revision),
});

/** What to answer about one reply. Its entity tag is its own version: what else happens in the thread leaves it alone. */
export const answerReply = (
  view: View,
  document: ReplyDocument,
): { readonly body: CommentReply; readonly etag: string } => ({
  body: presentReply(view, document),
  etag: etagOf(document.version),
});

/** The comment after a command: folded from what was there; read again only when others wrote in between. */
export const commentAfter = async (
  { comments }: Pick<CommentDeps, 'comments'>,
  before: Stored<CommentDocument> | undefined,
  { revision, events }: Done,
  commentId: string,
): Promise<Pick<Stored<CommentDocument>, 'document' | 'revision'>> => {
  if (revision === (before?.revision ?? -1) + events.length) {
    let document = before?.document;
    for (const event of events) document = evolveComment(document, event) ?? undefined;
    if (document !== undefined) return { document, revision };
  }
  const stored = await comments.get(commentId);
  if (stored === undefined) throw notFound('comment');
  return stored;
};

/** The reply after a command. @param before undefined for a new one */
export const replyAfter = async (
  { replies }: Pick<CommentDeps, 'replies'>,
  before: ReplyDocument | undefined,
  { state, events }: Done,
  replyId: string,
): Promise<ReplyDocument> => {
  let document = before;
  for (const event of events) document = evolveReply(document, event) ?? undefined;
  const version = 'replies' in state ? state.replies.get(replyId)?.version : undefined;
  if (document !== undefined && document.version === version) return document;
  const stored = await replies.get(replyId);
  if (stored === undefined) throw notFound('reply');
  return stored.document;
};

const openness: ReadonlySet<string> = new Set<CommentEvent['type']>([
  'CommentPosted',
  'CommentResolved',
  'CommentReopened',
  'CommentDeleted',
]);

/** Lets the counts of the place know, when a command made a comment more or less open. */
export const countsAfter = async (
  { counts }: Pick<CommentDeps, 'counts'>,
  { spaceId, changeRequestId }: Pick<Place, 'spaceId' | 'changeRequestId'>,
  { events }: Pick<Done, 'events'>,
): Promise<void> => {
  if (!events.some(({ type }) => openness.has(type))) return;
  if (changeRequestId === undefined) await counts.space(spaceId);
  else await counts.changeRequest(changeRequestId);
};

import type { ChangeRequest } from '@bindery/contracts';
import type { Handled } from '@bindery/event-sourcing';
import type { Stored } from '@bindery/read-store';
import { notFound, preconditionFailed } from '@bindery/service-kit';
import type { ChangeRequestEvent } from './events.ts';
import { isOutdated, presentChangeRequest } from './present.ts';
import type { ChangeRequestDocument } from './read-model/document.ts';
import type { ChangeRequestsCollection } from './read-model/lookup.ts';
import { evolveChangeRequest } from './read-model/projection.ts';
import type { ChangeRequestState } from './state.ts';

/** A change request as it stands at a revision of its stream. */
export interface ChangeRequestAt {
  readonly document: ChangeRequestDocument;
  readonly streamRevision: number;
}

/**
 * What to answer about one change request. Its entity tag is the revision of its stream and whether it is outdated, which
 * the space decides; `If-Match` looks at the first part only.
 * @param head newest revision of the space's primary content
 * @param comments how many of its comments are open
 */
export const answerChangeRequest = (
  baseUrl: string,
  { document, streamRevision }: ChangeRequestAt,
  head: string,
  comments: number,
): { readonly body: ChangeRequest; readonly etag: string } => ({
  body: presentChangeRequest(baseUrl, document, head, comments),
  etag: `${streamRevision}-${isOutdated(document, head) ? 1 : 0}`,
});

/** The stream revision that `If-Match` asks for; undefined when it asks for none. @throws Problem precondition */
export const expectedRevision = (ifMatch: string | undefined): number | undefined => {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const [, revision] = /^(\d{1,15})(?:-[01])?$/.exec(ifMatch) ?? [];
  if (revision === undefined) throw preconditionFailed('If-Match: is not a tag of this change request.');
  return Number(revision);
};

/**
 * The change request after a command: folded from what was there and the new events, without asking the read store; read
 * again only when others wrote in between.
 */
export const changeRequestAfter = async (
  changeRequests: ChangeRequestsCollection,
  before: Stored<ChangeRequestDocument> | undefined,
  handled: Handled<ChangeRequestState, ChangeRequestEvent>,
  id: string,
): Promise<ChangeRequestAt> => {
  if (handled.revision === (before?.revision ?? -1) + handled.events.length) {
    let document = before?.document;
    for (const event of handled.events) document = evolveChangeRequest(document, event);
    if (document !== undefined) return { document, streamRevision: handled.revision };
  }
  const stored = await changeRequests.get(id);
  if (stored === undefined) throw notFound('change request');
  return { document: stored.document, streamRevision: stored.revision };
};

import { isDeepStrictEqual } from 'node:util';
import type { JSONDocument, UpdatePageInput } from '@bindery/contracts';
import { carryKeys } from '@bindery/documents';
import type { PageNode } from '../../revisions/index.ts';
import { type GivenBody, loadedBody, readBody } from './body.ts';
import { type EditSession, siblingAt } from './edit-session.ts';
import { fault } from './faults.ts';
import { plainFields, slugFor } from './page-fields.ts';
import { withFields } from './page-metadata.ts';

/** `update_page` (gaps-filled section 7). @throws Problem invalid naming the field */
export const updatePage = (
  session: EditSession,
  input: UpdatePageInput,
  field: string,
  stored: ReadonlyMap<string, JSONDocument>,
): void => {
  const page = session.existing(input.page, `${field}.page`);
  const parent = input.into === undefined ? page.parent : input.into;
  checkMove(session, page, parent, `${field}.into`);
  const body = input.document === undefined ? undefined : bodyOf(page, input.document, field);
  const title = body?.fields.title ?? input.title ?? page.metadata.title;
  const place = { id: page.id, parent, title };
  // Without a word about it a page keeps its slug, also when its title changes: its address is linked to.
  const keeps = input.slug === undefined && page.metadata.slug !== '';
  const slug = keeps || page.type === 'link' ? page.metadata.slug : slugFor(session, place, input.slug, field);
  if (keeps && parent !== page.parent && page.type !== 'link' && session.isTaken(parent, slug, page.id))
    throw fault('slug_taken', `${field}.into`, `a page there has the slug "${slug}" already`);
  const metadata = withFields(page.metadata, { ...plainFields(input), ...body?.fields, title, slug });

  movePage(session, page, parent, input.at);
  if (!isDeepStrictEqual(metadata, page.metadata)) session.editMetadata(page, metadata);
  if (body !== undefined) putBody(session, page, body, stored);
  session.touch(page.id, { kind: 'updated' });
};

const bodyOf = (page: PageNode, document: NonNullable<UpdatePageInput['document']>, field: string): GivenBody => {
  if (page.type !== 'document')
    throw fault('no_document', `${field}.document`, `page ${page.id} is a ${page.type} page and has no document`);
  return readBody(document, `${field}.document`);
};

const checkMove = (session: EditSession, page: PageNode, parent: string | null, field: string): void => {
  if (parent === page.parent) return;
  if (page.type === 'group' && parent !== null)
    throw fault('group_not_top', field, 'groups can only stand at the top level');
  if (parent !== null && session.draft.isWithin(parent, page.id))
    throw fault('into_itself', field, 'a page cannot go under itself or a page below it');
  session.checkParent(parent, session.heightOf(page.id), field);
};

const movePage = (session: EditSession, page: PageNode, parent: string | null, at: number | undefined): void => {
  if (parent === page.parent && at === undefined) return;
  const list = session.draft.children(parent);
  const siblings = list.filter((id) => id !== page.id);
  const before = siblingAt(siblings, at);
  const here = list.indexOf(page.id);
  if (parent === page.parent && (list[here + 1] ?? null) === before) return;
  session.apply({ kind: 'page_moved', pageId: page.id, parent, before });
};

/** The body that a page has at this point of the batch. */
export const currentBody = (
  session: EditSession,
  page: PageNode,
  stored: ReadonlyMap<string, JSONDocument>,
): JSONDocument => session.bodies.get(page.id)?.document ?? loadedBody(page.documentId, stored);

/** Gives a page another body; blocks keep their keys where they are the same or much alike. */
export const putBody = (
  session: EditSession,
  page: PageNode,
  body: Pick<GivenBody, 'document' | 'isMarkdown'>,
  stored: ReadonlyMap<string, JSONDocument>,
): void => {
  const pending = session.bodies.get(page.id);
  const before = pending === undefined ? page.documentId : pending.before;
  session.bodies.set(page.id, {
    documentId: pending?.documentId ?? session.newId(),
    document: body.isMarkdown ? carryKeys(currentBody(session, page, stored), body.document) : body.document,
    isMarkdown: body.isMarkdown,
    ...(before === undefined ? {} : { before }),
  });
};

import type { InsertPageInput } from '@bindery/contracts';
import { readBody } from './body.ts';
import { type EditSession, siblingAt } from './edit-session.ts';
import { fault } from './faults.ts';
import { plainFields, slugFor } from './page-fields.ts';
import { withFields } from './page-metadata.ts';

/** Title of a page for which nobody has given one. */
const untitled = 'Untitled';

/** `insert_page` (gaps-filled section 7). @throws Problem invalid naming the field */
export const insertPage = (session: EditSession, input: InsertPageInput, field: string): void => {
  // The parent may be a page that this batch has just inserted, by its name.
  const into = input.into ?? null;
  const parent = into === null ? null : (session.pageRefs.get(into) ?? into);
  session.checkParent(parent, 0, `${field}.into`);
  const id = session.newId();
  const documentId = session.newId();
  const body = readBody(input.document, `${field}.document`);
  const title = body.fields.title ?? input.title ?? untitled;
  const slug = slugFor(session, { id, parent, title }, input.slug, field);
  const metadata = withFields({ title, slug }, { ...plainFields(input), ...body.fields });
  if (input.ref !== undefined) nameInBatch(session, input.ref, `${field}.ref`).pageRefs.set(input.ref, id);
  session.apply({
    kind: 'page_inserted',
    page: { id, type: 'document', parent, metadata, documentId, createdAt: session.now },
    before: siblingAt(session.draft.children(parent), input.at),
  });
  session.bodies.set(id, { documentId, document: body.document, isMarkdown: body.isMarkdown });
  session.touch(id, { kind: 'created', ...(input.ref === undefined ? {} : { ref: input.ref }) });
};

/** Checks a name that later links of the batch will use. @throws Problem invalid */
export const nameInBatch = (session: EditSession, ref: string, field: string): EditSession => {
  if (session.pageRefs.has(ref) || session.fileRefs.has(ref))
    throw fault('ref_twice', field, `"${ref}" is used twice in this batch`);
  const plain = ref.replace(/^\.?\//, '').replace(/\.md$/i, '');
  if (session.start.byPath(plain) !== undefined)
    throw fault('ref_is_path', field, `"${ref}" is the path of a page that exists`);
  return session;
};

import { limits, type spaceOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { type HandlersFor, notFound, type OperationContext, Problem } from '@bindery/service-kit';
import {
  type RevisionChange,
  type RevisionPart,
  type RevisionReader,
  type StoredDocument,
  splitRevision,
  type Tree,
} from '../../revisions/index.ts';
import { orderKeyAt } from '../../space-model/index.ts';
import { answerSpace, spaceAfter } from '../answer.ts';
import type { SpaceRouteDeps } from '../deps.ts';
import { spaceLocation } from '../present.ts';

/** Documents read at a time. */
const documentBatch = 200;
const suffix = ' (copy)';

/** The title of a copy, at most as long as a title may be; cut between characters. */
const titleOfCopy = (title: string): string => {
  const room = limits.space.title - suffix.length;
  const segments = new Intl.Segmenter().segment(title);
  let kept = '';
  for (const { segment } of segments) {
    if (kept.length + segment.length > room) break;
    kept += segment;
  }
  return `${kept}${suffix}`;
};

/**
 * All of a revision as the changes of a first one. Pages, files and reusable contents keep their ids, which only mean
 * something within a space, so that links between them stay right; documents are named across spaces and get new ids.
 */
const copyOf = (
  tree: Tree,
  newId: () => string,
): { changes: RevisionChange[]; documents: ReadonlyMap<string, string> } => {
  const documents = new Map<string, string>();
  const own = (documentId: string | undefined) => {
    if (documentId === undefined) return {};
    const id = documents.get(documentId) ?? newId();
    documents.set(documentId, id);
    return { documentId: id };
  };
  const changes: RevisionChange[] = [
    ...[...tree.files()].map((file): RevisionChange => ({ kind: 'file_put', file })),
    ...[...tree.reusableContents()].map(
      (content): RevisionChange => ({
        kind: 'reusable_content_put',
        content: { ...content, ...own(content.documentId) },
      }),
    ),
    // Parents before children, siblings in order: each goes to the end of what is there.
    ...[...tree.walk()].map(
      (page): RevisionChange => ({ kind: 'page_inserted', page: { ...page, ...own(page.documentId) }, before: null }),
    ),
  ];
  if (Object.keys(tree.variables).length > 0) changes.push({ kind: 'variables_set', variables: tree.variables });
  return { changes, documents };
};

const loadDocuments = async (
  context: OperationContext,
  reader: RevisionReader,
  spaceId: string,
  ids: ReadonlyMap<string, string>,
): Promise<StoredDocument[]> => {
  const pairs = [...ids];
  const stored: StoredDocument[] = [];
  for (let start = 0; start < pairs.length; start += documentBatch) {
    if (context.signal.aborted)
      throw new Problem('unavailable', 'space.duplicate_aborted', 'The space was not duplicated in time.', {
        retryAfter: 5,
      });
    const batch = pairs.slice(start, start + documentBatch);
    const bodies = await reader.documents(
      spaceId,
      batch.map(([from]) => from),
    );
    for (const [from, id] of batch) {
      const document = bodies.get(from);
      if (document !== undefined) stored.push({ id, document });
    }
  }
  return stored;
};

/** POST /spaces/{spaceId}/duplicate. The whole copy is one append: there is all of it, or nothing. */
export const duplicateSpace =
  (deps: SpaceRouteDeps): HandlersFor<typeof spaceOperations>['duplicateSpace'] =>
  async (context, { params }) => {
    const { space: source } = await deps.access.space(context, params.spaceId, 'view');
    const { organizationId } = source;
    if (source.parent === undefined) deps.access.organization(context, organizationId, 'createContent');
    else await deps.access.collection(context, source.parent, 'create');
    const spaceId = context.ids.id();
    const revisionId = context.ids.id();
    const tree = await deps.reader.tree(source.id, source.revision);
    const { changes, documents } = copyOf(tree, () => context.ids.id());
    const content: RevisionPart = {
      changes,
      documents: await loadDocuments(context, deps.reader, source.id, documents),
    };
    const { emoji, icon, visibility, defaultLevel, editMode, language, mergeRules, parent, computed } = source;
    const handled = await deps.repository.handle(
      spaceId,
      {
        type: 'CreateSpace',
        data: {
          spaceId,
          organizationId,
          title: titleOfCopy(source.title),
          ...(emoji === undefined ? {} : { emoji }),
          ...(icon === undefined ? {} : { icon }),
          ...(editMode === undefined ? {} : { editMode }),
          ...(language === undefined ? {} : { language }),
          ...(parent === undefined ? {} : { parent }),
          ...(computed === undefined ? {} : { computed: { ...computed, pageId: context.ids.id() } }),
          visibility,
          defaultLevel,
          mergeRules,
          duplicateOf: source.id,
          createdBy: context.principal.id,
          createdAt: context.now.toISOString(),
          order: orderKeyAt(context.now.toISOString(), spaceId),
          revisionId,
          parts: splitRevision(content),
        },
      },
      commandMetadata(context, organizationId),
      { create: true },
    );
    const after = await spaceAfter(deps, undefined, handled, spaceId);
    if (!(await deps.placement.settle(context, after.space))) throw notFound('space');
    const answer = await answerSpace(deps, context, after);
    return { status: 201, ...answer, location: spaceLocation(context.baseUrl, spaceId) };
  };

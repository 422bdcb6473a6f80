import { type ApplySpaceTemplate, type ComputedContentSource, limits, type spaceOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { conflict, type HandlersFor, invalid, notFound, type OperationContext } from '@bindery/service-kit';
import type { RevisionChange, RevisionPart, StoredDocument } from '../../revisions/index.ts';
import { orderKeyAt } from '../../space-model/index.ts';
import { answerSpace, spaceAfter } from '../answer.ts';
import type { SpaceRouteDeps } from '../deps.ts';
import type { ComputedContent } from '../events.ts';
import { spaceLocation } from '../present.ts';

const defaultTitle = 'Untitled';

/** One empty page, so that a new space has something to open. */
const firstPage = (context: OperationContext): RevisionPart => {
  const document: StoredDocument = { id: context.ids.id(), document: { object: 'document', data: {}, nodes: [] } };
  const change: RevisionChange = {
    kind: 'page_inserted',
    page: {
      id: context.ids.id(),
      type: 'document',
      parent: null,
      metadata: { title: defaultTitle, slug: 'untitled' },
      documentId: document.id,
      createdAt: context.now.toISOString(),
    },
    before: null,
  };
  return { changes: [change], documents: [document] };
};

/** A source as it is kept: what it depends on by name only, as values are looked up when it is shown. */
const computedOf = (context: OperationContext, source: ComputedContentSource): ComputedContent => {
  const named = Object.entries(source.dependencies ?? {}).map(([name, { ref }]) => [name, { ref }] as const);
  const dependencies = source.dependencies === undefined ? {} : { dependencies: Object.fromEntries(named) };
  const text = JSON.stringify({ ...source, ...dependencies });
  if (text.length > limits.computed.source)
    throw invalid('space.computed', `body.computedSource: is longer than ${limits.computed.source} characters.`);
  return { pageId: context.ids.id(), source: text };
};

/** What a new space has. @throws Problem 400 for a template that does not exist */
const beginning = async (
  deps: SpaceRouteDeps,
  context: OperationContext,
  spaceId: string,
  {
    template,
    empty,
    computedSource,
  }: {
    readonly template?: ApplySpaceTemplate;
    readonly empty?: true;
    readonly computedSource?: ComputedContentSource;
  },
): Promise<RevisionPart> => {
  if (template !== undefined) return deps.template(context, spaceId, template);
  return empty || computedSource !== undefined ? { changes: [], documents: [] } : firstPage(context);
};

/** POST /orgs/{organizationId}/spaces */
export const createSpace =
  (deps: SpaceRouteDeps): HandlersFor<typeof spaceOperations>['createSpace'] =>
  async (context, { params, body = {} }) => {
    const { organizationId } = params;
    const { parent } = body;
    if (parent === undefined) deps.access.organization(context, organizationId, 'createContent');
    else {
      deps.access.organization(context, organizationId, 'view');
      const { collection } = await deps.access.collection(context, parent, 'create');
      if (collection.organizationId !== organizationId) throw notFound('collection');
      if (collection.status === 'leaving')
        throw conflict('collection.in_transfer', 'The collection is on its way to another organization.');
    }
    const begins = [body.template, body.computedSource, body.empty].filter((it) => it !== undefined);
    if (begins.length > 1)
      throw invalid('space.begins_twice', 'body: give at most one of template, computedSource and empty.');
    const spaceId = context.ids.id();
    const createdAt = context.now.toISOString();
    const handled = await deps.repository.handle(
      spaceId,
      {
        type: 'CreateSpace',
        data: {
          spaceId,
          organizationId,
          title: body.title ?? defaultTitle,
          ...(body.emoji ? { emoji: body.emoji } : {}),
          ...(body.editMode ? { editMode: body.editMode } : {}),
          ...(body.language ? { language: body.language } : {}),
          visibility: 'private',
          defaultLevel: 'inherit',
          mergeRules: { type: 'inherit' },
          createdBy: context.principal.id,
          createdAt,
          ...(parent === undefined ? {} : { parent }),
          order: orderKeyAt(createdAt, spaceId),
          ...(body.computedSource === undefined ? {} : { computed: computedOf(context, body.computedSource) }),
          revisionId: context.ids.id(),
          parts: [await beginning(deps, context, spaceId, body)],
        },
      },
      commandMetadata(context, organizationId),
      { create: true },
    );
    const after = await spaceAfter(deps, undefined, handled, spaceId);
    if (!(await deps.placement.settle(context, after.space))) throw notFound('collection');
    const answer = await answerSpace(deps, context, after);
    return { status: 201, ...answer, location: spaceLocation(context.baseUrl, spaceId) };
  };

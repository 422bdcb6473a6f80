import {
  type Collection,
  type ContentReferenceUsage,
  limits,
  loadCollections,
  loadSpaces,
  type OpenAPISpec,
  openapiSpecOperations,
  resolveSubjects,
  type Space,
} from '@bindery/contracts';
import { isProblem, type OperationContext } from '@bindery/service-kit';
import type { SpaceDocument } from '../space-model/index.ts';
import type { LinksDeps } from './deps.ts';
import { type LinkTarget, targetOf } from './keys.ts';
import { type LinkTargetDocument, sourceId } from './read-model/collections.ts';
import { leads, locationOf } from './read-model/draft.ts';
import { type LinksView, sourcesOf } from './view.ts';

/** A target with what is known of it. */
export interface ResolvedTarget {
  readonly document: Pick<LinkTargetDocument, 'key' | 'target' | 'state'>;
  readonly target: LinkTarget;
  readonly status: ContentReferenceUsage['status'];
}

/** Resources around targets, as the caller sees them. Kept for one request. */
export interface Surroundings {
  readonly spaces: Map<string, Space>;
  readonly collections: Map<string, Collection>;
  readonly users: Set<string>;
  readonly specs: Map<string, OpenAPISpec>;
  /** What was looked for already, found or not. */
  readonly asked: Set<string>;
}

export const noSurroundings = (): Surroundings => ({
  spaces: new Map(),
  collections: new Map(),
  users: new Set(),
  specs: new Map(),
  asked: new Set(),
});

const batch = 1000;
/** Specifications that one request looks up; further ones count as broken. */
const maxSpecs = 100;
const idPattern = new RegExp(limits.id.pattern);
const isId = (text: string): boolean => text.length <= limits.id.maxLength && idPattern.test(text);

/** Takes from `wanted` what was not looked for yet, and could exist at all. */
const unasked = (around: Surroundings, kind: string, wanted: Iterable<string>): readonly string[] => {
  const fresh: string[] = [];
  for (const id of wanted) {
    const name = `${kind}:${id}`;
    if (around.asked.has(name) || !isId(id)) continue;
    around.asked.add(name);
    fresh.push(id);
  }
  return fresh;
};

const inBatches = async (ids: readonly string[], load: (some: string[]) => Promise<void>): Promise<void> => {
  for (let start = 0; start < ids.length; start += batch) await load(ids.slice(start, start + batch));
};

/** Loads spaces that the caller may view; the others stay absent. */
export const lookUpSpaces = async (
  { own }: Pick<LinksDeps, 'own'>,
  context: OperationContext,
  around: Surroundings,
  ids: Iterable<string>,
): Promise<void> =>
  inBatches(unasked(around, 'space', ids), async (some) => {
    const { body } = await own.call(loadSpaces, context, { params: {}, query: {}, body: { ids: some } });
    for (const space of body.spaces) around.spaces.set(space.id, space);
  });

const lookUp = async (
  deps: LinksDeps,
  context: OperationContext,
  organizationId: string,
  targets: readonly LinkTarget[],
  around: Surroundings,
): Promise<void> => {
  const wanted = {
    spaces: new Set<string>(),
    collections: new Set<string>(),
    users: new Set<string>(),
    specs: new Set<string>(),
  };
  for (const target of targets) {
    if ('space' in target) wanted.spaces.add(target.space);
    else if (target.kind === 'collection') wanted.collections.add(target.collection);
    else if (target.kind === 'user') wanted.users.add(target.user);
    else if (target.kind === 'openapi') wanted.specs.add(target.spec);
  }
  await lookUpSpaces(deps, context, around, wanted.spaces);
  await inBatches(unasked(around, 'collection', wanted.collections), async (ids) => {
    const { body } = await deps.own.call(loadCollections, context, { params: {}, query: {}, body: { ids } });
    for (const collection of body.collections) around.collections.set(collection.id, collection);
  });
  await inBatches(unasked(around, 'user', wanted.users), async (users) => {
    const request = { params: {}, query: {}, body: { organizationId, users } };
    const { body } = await deps.services.call(resolveSubjects, context, request);
    for (const id of body.users) around.users.add(id);
  });
  for (const slug of unasked(around, 'openapi', wanted.specs).slice(0, maxSpecs)) {
    const spec = await specOf(deps, context, organizationId, slug);
    if (spec !== undefined) around.specs.set(slug, spec);
  }
};

const specOf = async (
  { own }: LinksDeps,
  context: OperationContext,
  organizationId: string,
  specSlug: string,
): Promise<OpenAPISpec | undefined> => {
  try {
    const params = { organizationId, specSlug };
    const request = { params, query: {}, body: undefined };
    return (await own.call(openapiSpecOperations.getOpenAPISpecBySlug, context, request)).body;
  } catch (error) {
    if (isProblem(error) && error.kind === 'not-found') return undefined;
    throw error;
  }
};

/** Whether an address leads into this instance. */
export const isInApp = (baseUrl: string, url: string): boolean =>
  url.startsWith(baseUrl) && /^(?:[/?#]|$)/.test(url.slice(baseUrl.length));

/**
 * Finds out which targets are there, for this caller: what it may not view is as good as missing. Targets in the space
 * itself are known to the view; those outside are looked up now, so that what was deleted or restored a moment ago counts.
 */
export const resolveTargets = async (
  deps: LinksDeps,
  view: LinksView,
  context: OperationContext,
  space: Pick<SpaceDocument, 'id' | 'organizationId'>,
  documents: readonly Pick<LinkTargetDocument, 'key' | 'target' | 'state'>[],
  around: Surroundings,
): Promise<readonly ResolvedTarget[]> => {
  const read = documents.flatMap((document) => {
    const target = targetOf(document.key);
    return target === undefined ? [] : [{ document, target }];
  });
  const outside = read.filter(({ document }) => document.state === 'outside').map(({ target }) => target);
  await lookUp(deps, context, space.organizationId, outside, around);
  const places = outside.flatMap((target) => {
    if (!('space' in target) || !around.spaces.has(target.space)) return [];
    const location = locationOf(target, target.space);
    return location === undefined ? [] : [sourceId(target.space, location)];
  });
  const sources = await sourcesOf(view, places);
  const isThere = (target: LinkTarget): boolean => {
    switch (target.kind) {
      case 'space':
        return around.spaces.has(target.space);
      case 'collection':
        return around.collections.has(target.collection);
      case 'user':
        return around.users.has(target.user);
      case 'openapi':
        return around.specs.has(target.spec);
      case 'url':
        return true;
      default: {
        const location = locationOf(target, target.space);
        const found = location === undefined ? undefined : sources.get(sourceId(target.space, location));
        return around.spaces.has(target.space) && leads(target, found);
      }
    }
  };
  return read.map(({ document, target }) => {
    if (target.kind === 'url')
      return { document, target, status: isInApp(context.baseUrl, target.url) ? 'in-app' : 'ok' };
    const there = document.state === 'outside' ? isThere(target) : document.state === 'ok';
    return { document, target, status: there ? 'ok' : 'broken' };
  });
};

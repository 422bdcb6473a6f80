import type { Recorded } from '@bindery/event-sourcing';
import type { RecordedEvent } from '@bindery/event-store';
import type { SearchChange } from '@bindery/search';
import { isProblem } from '@bindery/service-kit';
import type { PageNode, RevisionChange, RevisionReader, Tree } from '../revisions/index.ts';
import type { SpaceEvent, SpacesCollection } from '../spaces/index.ts';
import { isSearchable, searchPages } from './pages.ts';

/** What became of one space in a page of the log; only its last state is written to the index. */
interface SpaceOutcome {
  readonly spaceId: string;
  organizationId: string;
  /** Position of the last event: guard of what is written. */
  position: number;
  /** `gone`: out of the index. `whole`: all pages anew. `pages`: only those touched. */
  kind: 'gone' | 'whole' | 'pages';
  revisionId: string | undefined;
  /** Pages that changed, and whether what is below them did too (their path, their ancestors). */
  readonly touched: Map<string, 'page' | 'subtree'>;
  /** Pages that were deleted, with the revision that still had them. */
  readonly deleted: { readonly pageId: string; readonly before: string | undefined }[];
}

/** Pages whose bodies are loaded at a time, and most changes in one transaction of the index. */
const batch = 50;

const touch = (outcome: SpaceOutcome, pageId: string, how: 'page' | 'subtree'): void => {
  if (outcome.touched.get(pageId) !== 'subtree') outcome.touched.set(pageId, how);
};

const note = (outcome: SpaceOutcome, change: RevisionChange, before: string | undefined): void => {
  switch (change.kind) {
    case 'page_inserted':
      touch(outcome, change.page.id, 'page');
      break;
    case 'page_edited':
      touch(outcome, change.pageId, change.metadata === undefined ? 'page' : 'subtree');
      break;
    case 'page_moved':
      touch(outcome, change.pageId, 'subtree');
      break;
    case 'page_deleted':
      outcome.deleted.push({ pageId: change.pageId, before });
      break;
    default:
  }
};

/** The outcome of a page of events for each space in it, in log order. */
const outcomesOf = (events: readonly Recorded<SpaceEvent>[]): readonly SpaceOutcome[] => {
  const bySpace = new Map<string, SpaceOutcome>();
  const outcomeOf = (spaceId: string, organizationId: string): SpaceOutcome => {
    const known = bySpace.get(spaceId);
    if (known) return known;
    const fresh: SpaceOutcome = {
      ...{ spaceId, organizationId, position: 0, kind: 'pages', revisionId: undefined },
      ...{ touched: new Map(), deleted: [] },
    };
    bySpace.set(spaceId, fresh);
    return fresh;
  };
  for (const event of events) {
    if (
      event.type === 'SpaceDeleted' ||
      event.type === 'SpacePurged' ||
      event.type === 'SpaceRestored' ||
      event.type === 'SpaceTransferred'
    ) {
      const outcome = outcomeOf(event.data.spaceId, event.data.organizationId);
      outcome.position = event.position;
      outcome.organizationId = event.data.organizationId;
      outcome.kind = event.type === 'SpaceRestored' || event.type === 'SpaceTransferred' ? 'whole' : 'gone';
    } else if (event.type === 'RevisionCommitted') {
      const { spaceId, organizationId, revisionId, parts, parents, changes } = event.data;
      const outcome = outcomeOf(spaceId, organizationId);
      outcome.position = event.position;
      outcome.revisionId = revisionId;
      // A large revision has most of its changes in events of their own: cheaper to write everything.
      if (parts > 0 && outcome.kind === 'pages') outcome.kind = 'whole';
      if (outcome.kind === 'pages') for (const change of changes) note(outcome, change, parents[0]);
    }
  }
  return [...bySpace.values()];
};

function* subtree(tree: Tree, pageId: string): Generator<PageNode> {
  const stack = [pageId];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    const page = tree.page(id);
    if (page === undefined) continue;
    yield page;
    stack.push(...tree.children(id));
  }
}

/** A reader that looks again after a repair where something is missing. */
const repairing = (
  reader: RevisionReader,
  repair: (spaceId: string) => Promise<void>,
): Pick<RevisionReader, 'tree' | 'documents'> => ({
  async tree(spaceId, revisionId) {
    try {
      return await reader.tree(spaceId, revisionId);
    } catch (error) {
      if (!isProblem(error)) throw error;
      await repair(spaceId);
      return reader.tree(spaceId, revisionId);
    }
  },
  async documents(spaceId, ids) {
    const found = await reader.documents(spaceId, ids);
    if (ids.every((id) => found.has(id))) return found;
    await repair(spaceId);
    return reader.documents(spaceId, ids);
  },
});

/** Turns events of spaces into changes of the index. */
export interface IndexChanges {
  /** Changes for a page of the log, in transactions of bounded size. */
  of(events: readonly RecordedEvent[]): AsyncGenerator<readonly SearchChange[]>;
  /** Everything that a space has now; replaces what the index has of it. */
  whole(
    space: { readonly spaceId: string; readonly organizationId: string; readonly revisionId: string },
    position: number,
  ): AsyncGenerator<readonly SearchChange[]>;
}

export const createIndexChanges = (deps: {
  readonly reader: RevisionReader;
  readonly spaces: SpacesCollection;
  /** Brings the documents of a space's stream up to its end: an event can be here before what its command writes. */
  readonly repair: (spaceId: string) => Promise<void>;
}): IndexChanges => {
  const { spaces, repair } = deps;
  const reader = repairing(deps.reader, repair);

  const whole: IndexChanges['whole'] = async function* ({ spaceId, organizationId, revisionId }, position) {
    const tree = await reader.tree(spaceId, revisionId);
    let changes: SearchChange[] = [{ kind: 'remove-space', spaceId }];
    const pages = [...tree.walk()].filter(isSearchable);
    for (let start = 0; start < pages.length; start += batch) {
      const some = pages.slice(start, start + batch);
      const ready = await searchPages({ spaceId, organizationId, tree, reader }, some, position);
      changes.push(...ready.map((page): SearchChange => ({ kind: 'put', page })));
      yield changes;
      changes = [];
    }
    if (changes.length > 0) yield changes;
  };

  const partly = async function* (outcome: SpaceOutcome, revisionId: string): AsyncGenerator<readonly SearchChange[]> {
    const { spaceId, organizationId, position, touched, deleted } = outcome;
    const tree = await reader.tree(spaceId, revisionId);
    const put = new Map<string, PageNode>();
    const gone = new Set<string>();
    const see = (id: string, page: PageNode | undefined): void => {
      if (page !== undefined && isSearchable(page)) put.set(id, page);
      else gone.add(id);
    };
    for (const [id, how] of touched) {
      see(id, tree.page(id));
      if (how === 'subtree') for (const page of subtree(tree, id)) see(page.id, page);
    }
    for (const { pageId, before } of deleted) {
      see(pageId, tree.page(pageId));
      if (before === undefined) continue;
      for (const { id } of subtree(await reader.tree(spaceId, before), pageId)) see(id, tree.page(id));
    }
    const removals = [...gone].map(
      (pageId): SearchChange => ({ kind: 'remove-page', spaceId, pageId, revision: position }),
    );
    for (let start = 0; start < removals.length; start += batch) yield removals.slice(start, start + batch);
    const pages = [...put.values()];
    for (let start = 0; start < pages.length; start += batch) {
      const some = pages.slice(start, start + batch);
      const ready = await searchPages({ spaceId, organizationId, tree, reader }, some, position);
      yield ready.map((page): SearchChange => ({ kind: 'put', page }));
    }
  };

  return {
    whole,
    async *of(events) {
      for (const outcome of outcomesOf(events as readonly unknown[] as readonly Recorded<SpaceEvent>[])) {
        const { spaceId, organizationId, position } = outcome;
        if (outcome.kind === 'gone') {
          yield [{ kind: 'remove-space', spaceId }];
          continue;
        }
        // Restoring names no revision: the head is where it was.
        const revisionId = outcome.revisionId ?? (await spaces.get(spaceId))?.document.revision;
        if (revisionId === undefined) continue;
        if (outcome.kind === 'whole') yield* whole({ spaceId, organizationId, revisionId }, position);
        else yield* partly(outcome, revisionId);
      }
    },
  };
};

import type { JSONDocument } from '@bindery/contracts';
import type { DomainEvent, Recorded } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { describe, expect, test } from '@jest/globals';
import {
  applyChanges,
  emptyTree,
  type RevisionChange,
  type RevisionPiece,
  type RevisionTree,
  type StoredDocument,
} from '../revisions/index.ts';
import { keyOf, placeOf, resourceOf, targetOf, targetOfRef } from './keys.ts';
import { linksOfDocument } from './outgoing.ts';
import { linksProjection } from './read-model/projection.ts';

/** Whole numbers from 0 up. */
type Choose = (below: number) => number;

/** A repeatable source of choices. */
const choices = (seed: number): Choose => {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * Math.max(1, below));
  };
};

const space = 's1';
const primary = 'content.space';
const branch = 'content.branch';

/** A body with a heading and links to these. */
const bodyOf = (heading: string, refs: readonly object[]): JSONDocument =>
  ({
    object: 'document',
    data: {},
    nodes: [
      {
        object: 'block',
        type: 'heading-1',
        data: { id: heading },
        nodes: [{ object: 'text', leaves: [{ object: 'leaf', text: heading, marks: [] }] }],
      },
      {
        object: 'block',
        type: 'paragraph',
        key: `k-${heading}`,
        nodes: refs.map((ref) => ({
          object: 'inline',
          type: 'link',
          data: { ref },
          nodes: [{ object: 'text', leaves: [{ object: 'leaf', text: 'x', marks: [] }] }],
        })),
      },
    ],
  }) as unknown as JSONDocument;

/** The view on a store of plain maps. */
const openView = () => {
  const stored = new Map<string, { readonly name: string; readonly id: string; readonly document: unknown }>();
  const read = (event: Recorded<DomainEvent>) => event.data as unknown as RevisionPiece;
  const sources = [primary, branch].map((aggregate) => ({ aggregate, handles: ['Revised'], read }));
  const projection = linksProjection(sources, primary);
  const get = async <T>(spec: CollectionSpec, id: string) =>
    structuredClone(stored.get(`${spec.name} ${id}`)?.document) as T | undefined;
  let position = 0;
  return {
    async feed(aggregate: string, changes: readonly RevisionChange[], documents: readonly StoredDocument[]) {
      position += 1;
      const data = { spaceId: space, revisionId: `r${position}`, part: 0, changes, documents };
      const event = { type: 'Revised', data, stream: `${aggregate}-${space}`, position, revision: position };
      for (const { collection, write } of await projection.apply(event as unknown as Recorded<DomainEvent>, { get })) {
        const key = `${collection.name} ${write.id}`;
        if (write.kind === 'remove') stored.delete(key);
        else stored.set(key, { name: collection.name, id: write.id, document: structuredClone(write.document) });
      }
    },
    all: <T>(name: string): readonly T[] =>
      [...stored.values()].filter((it) => it.name === name).map(({ document }) => document as T),
  };
};

interface Told {
  readonly location: string;
  readonly key: string;
}

/** The same, thought through from the whole content each time. */
const naive = (tree: RevisionTree, documents: ReadonlyMap<string, JSONDocument>) => {
  const links: Told[] = [];
  const anchors = new Map<string, readonly string[]>();
  const tell = (location: string, pageId: string | undefined, refs: readonly unknown[]): void => {
    const targets = refs.flatMap((ref) => targetOfRef(ref, space, pageId) ?? []);
    for (const key of new Set(targets.map(keyOf))) links.push({ location, key });
  };
  const refsOf = (id: string | undefined) => {
    const body = id === undefined ? undefined : documents.get(id);
    return body === undefined ? { refs: [], anchors: [] } : linksOfDocument(body);
  };
  for (const page of tree.walk()) {
    const body = refsOf(page.documentId);
    anchors.set(page.id, body.anchors);
    const refs = [page.target, page.metadata.cover?.ref, ...body.refs.map(({ ref }) => ref)];
    tell(`p/${page.id}`, page.id, refs);
  }
  for (const { id, documentId } of tree.reusableContents())
    tell(
      `c/${id}`,
      undefined,
      refsOf(documentId).refs.map(({ ref }) => ref),
    );
  const states = new Map<string, string>();
  for (const { key } of links) {
    const target = targetOf(key);
    if (target === undefined) continue;
    if (target.kind === 'url') states.set(key, 'url');
    else if (!('space' in target) || target.kind === 'space' || target.space !== space) states.set(key, 'outside');
    else {
      const there =
        target.kind === 'page'
          ? tree.page(target.page) !== undefined
          : target.kind === 'file'
            ? tree.file(target.file) !== undefined
            : target.kind === 'content'
              ? tree.reusableContent(target.content) !== undefined
              : (anchors.get(target.page)?.includes(target.anchor) ?? false);
      states.set(key, there ? 'ok' : 'broken');
    }
  }
  return { links, states };
};

const anyRef = (choose: Choose): object => {
  const page = `p${choose(12)}`;
  const all = [
    { kind: 'page', page },
    { kind: 'page', page, space },
    { kind: 'page', page, space: 's2' },
    { kind: 'anchor', anchor: `h${choose(3)}`, page },
    { kind: 'anchor', anchor: `h${choose(3)}` },
    { kind: 'file', file: `f${choose(3)}` },
    { kind: 'reusable-content', reusableContent: `c${choose(3)}` },
    { kind: 'url', url: `https://example.com/${choose(3)}:%` },
    { kind: 'user', user: 'u1' },
    { kind: 'tag', tag: 't1' },
    { kind: 'space', space: choose(2) === 0 ? space : 's2' },
  ];
  return all[choose(all.length)] ?? {};
};

/** One change as it may be recorded, nonsense included, with the body that it names. */
const anyChange = (tree: RevisionTree, choose: Choose, documentId: string): RevisionChange => {
  const pages = [...tree.walk()];
  const any = (): string => pages[choose(pages.length)]?.id ?? 'p0';
  const id = `p${choose(12)}`;
  const parent = choose(2) === 0 ? null : any();
  const cover = choose(3) === 0 ? { ref: anyRef(choose) } : {};
  const metadata = { title: id, slug: id, cover };
  switch (choose(10)) {
    case 0:
    case 1:
    case 2:
      return { kind: 'page_inserted', page: { id, type: 'document', parent, documentId, metadata }, before: null };
    case 3:
    case 4:
      return { kind: 'page_edited', pageId: any(), documentId, updatedAt: '2026-01-01T00:00:00.000Z' };
    case 5:
      return { kind: 'page_edited', pageId: any(), metadata, updatedAt: '2026-01-01T00:00:00.000Z' };
    case 6:
      return { kind: 'page_moved', pageId: any(), parent, before: null };
    case 7:
      return { kind: 'page_deleted', pageId: choose(3) === 0 ? id : any() };
    case 8: {
      const file = { id: `f${choose(3)}`, name: 'x', contentType: 'text/plain', size: 1, sha256: 'x' };
      return choose(3) === 0 ? { kind: 'file_deleted', fileId: file.id } : { kind: 'file_put', file };
    }
    default: {
      const content = { id: `c${choose(3)}`, title: 'x', documentId };
      return choose(3) === 0
        ? { kind: 'reusable_content_deleted', contentId: content.id }
        : { kind: 'reusable_content_put', content };
    }
  }
};

describe('the view of links', () => {
  test('says what a look through everything says, whatever was recorded', async () => {
    let compared = 0;
    for (let seed = 1; seed <= 40; seed += 1) {
      const choose = choices(seed * 7919);
      const view = openView();
      const documents = new Map<string, JSONDocument>();
      let tree: RevisionTree = emptyTree;
      for (let step = 0; step < 25; step += 1) {
        const changes: RevisionChange[] = [];
        const fresh: StoredDocument[] = [];
        let next = tree;
        for (let many = 1 + choose(4); many > 0; many -= 1) {
          const id = `d${seed}-${step}-${many}`;
          const refs = Array.from({ length: choose(5) }, () => anyRef(choose));
          const document = bodyOf(`h${choose(3)}`, refs);
          fresh.push({ id, document });
          documents.set(id, document);
          const change = anyChange(next, choose, id);
          changes.push(change);
          next = applyChanges(next, [change]);
        }
        // Bodies come with the revision, or earlier on the branch of a change request.
        const early = choose(2) === 0;
        if (early) await view.feed(branch, [], fresh);
        await view.feed(primary, changes, early ? [] : fresh);
        tree = next;
      }
      const { links, states } = naive(tree, documents);
      const sorted = (told: readonly string[]) => [...told].sort();
      expect(
        sorted(
          view
            .all<{ location: string; target: string; resource?: string }>('content.links')
            .map(({ location, target, resource }) => JSON.stringify([location, target, resource ?? null])),
        ),
      ).toEqual(
        sorted(
          links.map(({ location, key }) => {
            const target = targetOf(key);
            const resource = target === undefined ? undefined : resourceOf(target);
            const itself = resource === `page:${space}:${location.slice(2)}` && location.startsWith('p/');
            return JSON.stringify([location, placeOf(key), itself ? null : (resource ?? null)]);
          }),
        ),
      );
      const uses = (key: string) => links.filter((it) => it.key === key).length;
      expect(
        sorted(
          view
            .all<{ key: string; state: string; uses: number }>('content.link_targets')
            .map((it) => `${it.key} ${it.state} ${it.uses}`),
        ),
      ).toEqual(sorted([...states].map(([key, state]) => `${key} ${state} ${uses(key)}`)));
      compared += states.size;
    }
    expect(compared).toBeGreaterThan(400);
  });

  test('keys are read back, whatever is in them', () => {
    for (const text of ['a', 'a:b', '%3A', 'é 漢 😀', '../~', ' ']) {
      const url = { kind: 'url', url: text } as const;
      const anchor = { kind: 'anchor', space: text, page: 'p', anchor: text } as const;
      expect(targetOf(keyOf(url))).toEqual(url);
      expect(targetOf(keyOf(anchor))).toEqual(anchor);
    }
    expect(targetOf(keyOf({ kind: 'url', url: 'x\ud800' }))).toEqual({ kind: 'url', url: 'x\ufffd' });
    expect(targetOf('constructor:x')).toBeUndefined();
    expect(placeOf(keyOf({ kind: 'url', url: 'x'.repeat(8192) })).length).toBeLessThan(300);
  });
});

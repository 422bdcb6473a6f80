import type { ProjectionReader, ProjectionWrite } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { keyOf, type LinkTarget, placeOf, resourceOf, shortOf, targetOf } from '../keys.ts';
import {
  contentLocation,
  fileLocation,
  type LinkDocument,
  type LinkSourceDocument,
  type LinkTargetDocument,
  linkSourcesSpec,
  linksSpec,
  linkTargetsSpec,
  pageLocation,
  type StoredLink,
  sourceId,
  targetId,
} from './collections.ts';

interface Entry {
  readonly collection: CollectionSpec;
  readonly id: string;
  readonly document: unknown;
}

/** The links of one space under change: reads see what was written before. */
export class LinksDraft {
  readonly #reader: ProjectionReader;
  readonly #revision: number;
  readonly #written = new Map<string, Entry>();
  readonly #spaceId: string;

  constructor(reader: ProjectionReader, revision: number, spaceId: string) {
    this.#reader = reader;
    this.#revision = revision;
    this.#spaceId = spaceId;
  }

  async source(location: string): Promise<LinkSourceDocument | undefined> {
    return this.#get<LinkSourceDocument>(linkSourcesSpec, sourceId(this.#spaceId, location));
  }

  putSource(location: string, document: LinkSourceDocument | null): void {
    this.#put(linkSourcesSpec, sourceId(this.#spaceId, location), document);
  }

  /** Something that links can lead to has come or gone. */
  async toggled(target: LinkTarget, exists: boolean): Promise<void> {
    const id = targetId(this.#spaceId, keyOf(target));
    const known = await this.#get<LinkTargetDocument>(linkTargetsSpec, id);
    const state = exists ? 'ok' : 'broken';
    if (known !== undefined && known.state !== state) this.#put(linkTargetsSpec, id, { ...known, state });
  }

  /** The links of a location are these now. */
  async relink(location: string, before: readonly StoredLink[], after: readonly StoredLink[]): Promise<void> {
    const old = firstOf(before);
    const now = firstOf(after);
    for (const [key, node] of now) {
      if (old.has(key) && old.get(key) === node) continue;
      this.#put(linksSpec, this.#linkId(location, key), this.#link(location, key, node));
      if (!old.has(key)) await this.#used(key, 1);
    }
    for (const key of old.keys()) {
      if (now.has(key)) continue;
      this.#put(linksSpec, this.#linkId(location, key), null);
      await this.#used(key, -1);
    }
  }

  writes(): readonly ProjectionWrite[] {
    return [...this.#written.values()].map(({ collection, id, document }) => ({
      collection,
      write:
        document === null
          ? { kind: 'remove', id, revision: this.#revision }
          : { kind: 'put', id, revision: this.#revision, document },
    }));
  }

  async #used(key: string, by: 1 | -1): Promise<void> {
    const id = targetId(this.#spaceId, key);
    const known = await this.#get<LinkTargetDocument>(linkTargetsSpec, id);
    const uses = (known?.uses ?? 0) + by;
    if (uses <= 0) this.#put(linkTargetsSpec, id, null);
    else if (known !== undefined) this.#put(linkTargetsSpec, id, { ...known, uses });
    else {
      const state = await this.#stateOf(key);
      const fresh: LinkTargetDocument = { spaceId: this.#spaceId, key, target: placeOf(key), state, uses };
      this.#put(linkTargetsSpec, id, fresh);
    }
  }

  async #stateOf(key: string): Promise<LinkTargetDocument['state']> {
    const target = targetOf(key);
    if (target?.kind === 'url') return 'url';
    const location = target === undefined ? undefined : locationOf(target, this.#spaceId);
    if (location === undefined) return 'outside';
    const found = await this.source(location);
    return leads(target, found) ? 'ok' : 'broken';
  }

  #link(location: string, key: string, node: string | undefined): LinkDocument {
    const target = targetOf(key);
    const resource = target === undefined ? undefined : resourceOf(target);
    const itself = target !== undefined && locationOf(target, this.#spaceId) === location;
    return {
      spaceId: this.#spaceId,
      location,
      target: placeOf(key),
      ...(resource === undefined || itself ? {} : { resource }),
      ...(node === undefined ? {} : { node }),
    };
  }

  #linkId(location: string, key: string): string {
    return `${sourceId(this.#spaceId, location)}/${shortOf(key)}`;
  }

  async #get<T>(collection: CollectionSpec, id: string): Promise<T | undefined> {
    const entry = this.#written.get(`${collection.name}\n${id}`);
    // The draft put it there, so that it has the shape of its collection.
    if (entry !== undefined) return (entry.document ?? undefined) as T | undefined;
    return this.#reader.get<T>(collection, id);
  }

  #put(collection: CollectionSpec, id: string, document: unknown): void {
    this.#written.set(`${collection.name}\n${id}`, { collection, id, document });
  }
}

/** The location within a space that a target is, or is in; undefined for targets outside. */
export const locationOf = (target: LinkTarget, spaceId: string): string | undefined => {
  if (!('space' in target) || target.space !== spaceId) return undefined;
  switch (target.kind) {
    case 'page':
    case 'anchor':
      return pageLocation(target.page);
    case 'file':
      return fileLocation(target.file);
    case 'content':
      return contentLocation(target.content);
    default:
      return undefined;
  }
};

/** Whether a target is there, given what is at its location. */
export const leads = (target: LinkTarget | undefined, found: LinkSourceDocument | undefined): boolean =>
  found !== undefined && (target?.kind !== 'anchor' || (found.anchors ?? []).includes(target.anchor));

const firstOf = (links: readonly StoredLink[]): ReadonlyMap<string, string | undefined> => {
  const first = new Map<string, string | undefined>();
  for (const [key, node] of links) if (!first.has(key)) first.set(key, node);
  return first;
};

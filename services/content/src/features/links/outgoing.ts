import type { JSONDocument } from '@bindery/contracts';
import { extractReferences, sections } from '@bindery/documents';
import type { PageMetadata } from '../revisions/index.ts';

/** A reference of a document or page, with the block in which it stands, if that has a key. */
export interface Outgoing {
  readonly ref: unknown;
  readonly node?: string;
}

/** What links need to know of a body. */
export interface BodyLinks {
  /** Different references, in reading order. */
  readonly refs: readonly Outgoing[];
  /** Anchors of its headings. */
  readonly anchors: readonly string[];
}

/** Different references of one body that are followed. */
const maxRefs = 2000;
/** Anchors of one body that can be linked to. */
const maxAnchors = 5000;

/** References and anchors of a body; each reference once, at its first place. */
export const linksOfDocument = (document: JSONDocument): BodyLinks => {
  const refs = new Map<string, Outgoing>();
  for (const { ref, blockKey } of extractReferences(document)) {
    if (refs.size >= maxRefs) break;
    const text = JSON.stringify(ref);
    if (!refs.has(text)) refs.set(text, { ref, ...(blockKey === undefined ? {} : { node: blockKey }) });
  }
  const anchors = sections(document, '').flatMap(({ id }) => (id === '' ? [] : [id]));
  return { refs: [...refs.values()], anchors: anchors.slice(0, maxAnchors) };
};

/** References of a page's metadata: cover, canonical page and alternates. */
export const linksOfMetadata = ({ cover, metaLinks }: PageMetadata): readonly Outgoing[] => {
  const alternates = metaLinks?.alternates;
  const refs = [
    cover?.ref,
    cover?.refDark,
    metaLinks?.canonical,
    ...(Array.isArray(alternates) ? alternates.slice(0, maxRefs) : []),
  ];
  return refs.flatMap((ref: unknown) => (ref === undefined ? [] : [{ ref }]));
};

import { textOfDocument } from './document-text.ts';
import type { RevisionChange, StoredDocument } from './model.ts';

/** A piece of a revision that fits into one event. */
export interface RevisionPart {
  readonly changes: readonly RevisionChange[];
  readonly documents: readonly StoredDocument[];
}

/** Changes in one event. */
const maxChanges = 500;
/** JSON characters in one event; one that is larger by itself has an event of its own. */
const maxCharacters = 700_000;

/** Cuts a revision into pieces that fit into events, in order; at least one. Documents come before what refers to them. */
export const splitRevision = ({ changes, documents }: RevisionPart): readonly RevisionPart[] => {
  const parts: { changes: RevisionChange[]; documents: StoredDocument[] }[] = [{ changes: [], documents: [] }];
  let part = parts[0] ?? { changes: [], documents: [] };
  let characters = 0;
  const room = (size: number): void => {
    if (characters === 0 || (characters + size <= maxCharacters && part.changes.length < maxChanges)) {
      characters += size;
      return;
    }
    part = { changes: [], documents: [] };
    parts.push(part);
    characters = size;
  };
  for (const document of documents) {
    room(textOfDocument(document.document).length + 60);
    part.documents.push(document);
  }
  for (const change of changes) {
    room(JSON.stringify(change).length);
    part.changes.push(change);
  }
  return parts;
};

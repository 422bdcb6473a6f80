import { sameJson } from './equal.ts';
import { mergeRecords, mergeValue, type Versions } from './merge-fields.ts';
import type { TreeConflict } from './merge-types.ts';
import type { FileNode, ReusableContentNode, RevisionChange } from './model.ts';
import type { RevisionTree } from './tree.ts';

/** What merging the parts of a revision that are not pages needs of the merge around it. */
export interface EntryMerge {
  readonly base: RevisionTree;
  readonly ours: RevisionTree;
  readonly emit: (change: RevisionChange) => void;
  readonly conflict: (id: string, field: TreeConflict['field'], kind: NonNullable<TreeConflict['kind']>) => void;
  readonly document: (id: string, versions: Versions<string>) => string | undefined;
}

/** Merges one change of files, reusable contents or variables; changes of pages are not its business. */
export const mergeEntry = (change: RevisionChange, merge: EntryMerge): void => {
  if (change.kind === 'file_put') mergeFile(change.file, merge);
  else if (change.kind === 'file_deleted') {
    const { base, ours } = merge;
    deleteEntry(change, change.fileId, 'file', [base.file(change.fileId), ours.file(change.fileId)], merge);
  } else if (change.kind === 'reusable_content_put') mergeContent(change.content, merge);
  else if (change.kind === 'reusable_content_deleted') {
    const id = change.contentId;
    const versions = [merge.base.reusableContent(id), merge.ours.reusableContent(id)] as const;
    deleteEntry(change, id, 'reusable-content', versions, merge);
  } else if (change.kind === 'variables_set') mergeVariables(change.variables, merge);
};

const mergeFile = (theirs: FileNode, { base, ours, emit, conflict }: EntryMerge): void => {
  const before = base.file(theirs.id);
  const mine = ours.file(theirs.id);
  if (!sameJson(mine, before) && !sameJson(mine, theirs)) {
    conflict(theirs.id, mine === undefined ? 'deleted' : 'metadata', 'file');
  }
  if (!sameJson(mine, theirs)) emit({ kind: 'file_put', file: theirs });
};

/** They deleted it: it goes, unless we changed it. */
const deleteEntry = (
  change: RevisionChange,
  id: string,
  kind: 'file' | 'reusable-content',
  [before, mine]: readonly [unknown, unknown],
  { emit, conflict }: EntryMerge,
): void => {
  if (mine === undefined) return;
  if (sameJson(mine, before)) emit(change);
  else conflict(id, 'deleted', kind);
};

const mergeContent = (theirs: ReusableContentNode, { base, ours, emit, conflict, document }: EntryMerge): void => {
  const kind = 'reusable-content';
  const { id } = theirs;
  const before = base.reusableContent(id);
  const mine = ours.reusableContent(id);
  if (mine === undefined) {
    if (before !== undefined) conflict(id, 'deleted', kind);
    emit({ kind: 'reusable_content_put', content: theirs });
    return;
  }
  const title = mergeValue({ base: before?.title, ours: mine.title, theirs: theirs.title });
  if (title.conflict) conflict(id, 'title', kind);
  const documentId = document(id, {
    base: before?.documentId,
    ours: mine.documentId,
    theirs: theirs.documentId,
  });
  const content = {
    ...mine,
    title: title.value ?? theirs.title,
    ...(documentId === undefined ? {} : { documentId }),
  };
  if (!sameJson(mine, content)) emit({ kind: 'reusable_content_put', content });
};

const mergeVariables = (theirs: RevisionTree['variables'], { base, ours, emit, conflict }: EntryMerge): void => {
  const merged = mergeRecords({ base: base.variables, ours: ours.variables, theirs });
  for (const name of merged.conflicts) conflict(name, 'metadata', 'variable');
  if (!sameJson(ours.variables, merged.value)) emit({ kind: 'variables_set', variables: merged.value });
};

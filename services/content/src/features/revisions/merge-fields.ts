import { sameJson } from './equal.ts';
import type { PageMetadata } from './model.ts';

/** Three versions of one thing: the common ancestor and both sides. Undefined = it does not say. */
export interface Versions<T> {
  readonly base: T | undefined;
  readonly ours: T | undefined;
  readonly theirs: T | undefined;
}

/** What one value becomes: that of the side that changed it; `theirs`, marked, when both did. */
export const mergeValue = <T>(versions: Versions<T>): { readonly value: T | undefined; readonly conflict: boolean } => {
  const { base, ours, theirs } = versions;
  if (sameJson(theirs, base) || sameJson(theirs, ours)) return { value: ours, conflict: false };
  return { value: theirs, conflict: !sameJson(ours, base) };
};

/** Merges dictionaries key by key. @returns the keys that both sides changed, with `theirs` in place */
export const mergeRecords = <T>(
  versions: Versions<Readonly<Record<string, T>>>,
): { readonly value: Record<string, T>; readonly conflicts: readonly string[] } => {
  const value: Record<string, T> = {};
  const conflicts: string[] = [];
  const { base = {}, ours = {}, theirs = {} } = versions;
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const at = (record: Readonly<Record<string, T>>) => (Object.hasOwn(record, key) ? record[key] : undefined);
    const merged = mergeValue({ base: at(base), ours: at(ours), theirs: at(theirs) });
    if (merged.conflict) conflicts.push(key);
    // Defined, not assigned: a key like __proto__ stays a key.
    if (merged.value !== undefined)
      Object.defineProperty(value, key, { value: merged.value, enumerable: true, writable: true, configurable: true });
  }
  return { value, conflicts };
};

/** Metadata that is itself a dictionary and is merged key by key. */
const dictionaries: ReadonlySet<string> = new Set(['variables', 'extra', 'layout']);

/** Merges metadata field by field. @returns the fields that both sides changed differently */
export const mergeMetadata = (
  versions: Versions<PageMetadata> & { readonly ours: PageMetadata; readonly theirs: PageMetadata },
): { readonly value: PageMetadata; readonly conflicts: readonly string[] } => {
  const { base, ours, theirs } = versions;
  const plain = mergeRecords({ base: record(base), ours: record(ours), theirs: record(theirs) });
  const value = plain.value;
  const conflicts: string[] = [];
  for (const field of plain.conflicts) {
    const three = { base: record(base)?.[field], ours: record(ours)?.[field], theirs: record(theirs)?.[field] };
    if (!dictionaries.has(field) || !isRecord(three.ours) || !isRecord(three.theirs)) {
      conflicts.push(field);
      continue;
    }
    const inner = mergeRecords({
      base: isRecord(three.base) ? three.base : undefined,
      ours: three.ours,
      theirs: three.theirs,
    });
    value[field] = inner.value;
    if (inner.conflicts.length > 0) conflicts.push(field);
  }
  // The two fields that are never absent keep the type whole even if a stored page lacked them.
  return { value: { ...value, title: text(value.title), slug: text(value.slug) }, conflicts };
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const record = (metadata: PageMetadata | undefined): Readonly<Record<string, unknown>> | undefined =>
  metadata === undefined ? undefined : { ...metadata };

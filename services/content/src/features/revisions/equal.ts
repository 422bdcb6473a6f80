import { isDeepStrictEqual } from 'node:util';
import type { PageNode } from './model.ts';

/** Whether two JSON values say the same. */
export const sameJson = (a: unknown, b: unknown): boolean => a === b || isDeepStrictEqual(a, b);

/** Whether a page says the same in both, wherever it stands. */
export const sameContent = (a: PageNode, b: PageNode): boolean =>
  a === b ||
  (a.documentId === b.documentId &&
    a.type === b.type &&
    sameJson(a.metadata, b.metadata) &&
    sameJson(a.target, b.target));

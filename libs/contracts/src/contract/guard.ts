import { limits } from '../limits.ts';
import type { Violation } from './violation.ts';

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);
/** Longest field name that a message repeats. */
const maxShownKey = 60;

/**
 * Refuses what no schema should have to think about, before any schema sees it: keys that could reach a prototype
 * (PITFALLS 58), nesting deeper than `limits.json.maxDepth` (PITFALLS 56), and strings that do not survive storage
 * (NUL, unpaired surrogates).
 * @param value parsed JSON
 * @param at the name of the value in messages, for example `body`
 * @returns the first violation, if any
 */
export function guardJson(value: unknown, at: string): Violation | undefined {
  return visit(value, at, 0);
}

function visit(value: unknown, at: string, depth: number): Violation | undefined {
  if (typeof value === 'string') return guardText(value, at);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= limits.json.maxDepth) {
    return { field: at, rule: `must not be nested deeper than ${limits.json.maxDepth} levels` };
  }
  return Array.isArray(value) ? visitItems(value, at, depth) : visitFields(value, at, depth);
}

function visitItems(items: readonly unknown[], at: string, depth: number): Violation | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const found = visit(items[index], '', depth + 1);
    if (found) return { ...found, field: `${at}[${index}]${found.field}` };
  }
  return undefined;
}

function visitFields(value: object, at: string, depth: number): Violation | undefined {
  for (const [key, inner] of Object.entries(value)) {
    if (forbiddenKeys.has(key)) return { field: `${at}.${key}`, rule: 'is not a name that a field may have' };
    const badKey = guardText(key, '');
    if (badKey) return { field: at, rule: `has a field whose name ${badKey.rule}` };
    const found = visit(inner, '', depth + 1);
    if (found) return { ...found, field: `${at}.${key.slice(0, maxShownKey)}${found.field}` };
  }
  return undefined;
}

/** The string rules alone, for path parameters and queries. */
export function guardText(text: string, at: string): Violation | undefined {
  if (text.includes('\u0000')) return { field: at, rule: 'must not contain the NUL character' };
  if (!text.isWellFormed()) return { field: at, rule: 'must be well-formed Unicode (it has half of a surrogate pair)' };
  return undefined;
}

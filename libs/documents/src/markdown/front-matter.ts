import type { PlainObject, PlainValue } from '@bindery/contracts/document';
import { Document, isScalar, parseDocument, visit } from 'yaml';

/** The YAML at the start of a page, as it stands there: keys in their order, unknown ones included. */
export type FrontMatter = PlainObject;

/** Longest front matter that is read, in characters; more of it is text. */
const maxLength = 64 * 1024;
const maxDepth = 12;
const lineWidth = 80;
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** Splits a page into the YAML between its first two `---` lines and the rest. */
export function splitFrontMatter(source: string): { yaml?: string; body: string } {
  const open = /^---[ \t]*\n/.exec(source);
  if (open === null) return { body: source };
  const close = /^---[ \t]*(?:\n|$)/m.exec(source.slice(open[0].length, open[0].length + maxLength));
  if (close === null) return { body: source };
  const yaml = source.slice(open[0].length, open[0].length + close.index);
  return { yaml, body: source.slice(open[0].length + close.index + close[0].length) };
}

/**
 * Reads front matter. Undefined when it is not a YAML mapping, uses anchors or aliases, nests too deeply, or has a key that
 * would reach into object prototypes; such text is then part of the page.
 */
export function parseFrontMatter(yaml: string): FrontMatter | undefined {
  const document = parseDocument(yaml, { schema: 'core', maxAliasCount: 0, uniqueKeys: true, strict: true } as object);
  if (document.errors.length > 0 || document.warnings.length > 0) return undefined;
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
  if (value === null || value === undefined) return {};
  return isPlain(value, maxDepth) && typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as PlainObject)
    : undefined;
}

function isPlain(value: unknown, depth: number): value is PlainValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth === 0) return false;
  if (Array.isArray(value)) return value.every((one) => isPlain(one, depth - 1));
  return Object.entries(value).every(([name, one]) => !forbidden.has(name) && isPlain(one, depth - 1));
}

/** Writes front matter with its `---` lines; nothing for an empty one. Long text is folded as the hosted service does it. */
export function serializeFrontMatter(frontMatter: FrontMatter): string {
  if (Object.keys(frontMatter).length === 0) return '';
  const document = new Document(frontMatter, { schema: 'core', aliasDuplicateObjects: false });
  visit(document, {
    Pair(_, pair) {
      const { key, value } = pair;
      if (!isScalar(key) || !isScalar(value) || typeof value.value !== 'string') return;
      const fits = String(key.value).length + 2 + value.value.length <= lineWidth;
      if (!fits && !/^\s|\s$|\n/.test(value.value)) value.type = 'BLOCK_FOLDED';
    },
  });
  return `---\n${document.toString({ lineWidth, minContentWidth: 0 })}---\n`;
}

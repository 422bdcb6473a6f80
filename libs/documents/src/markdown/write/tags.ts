import type { PlainValue } from '@bindery/contracts/document';

const quote = (value: string): string => `"${value.replace(/\\(?=["'\\])/g, '\\\\').replaceAll('"', '\\"')}"`;

function writeValue(value: PlainValue): string {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'object' ? `json:${encodeURIComponent(JSON.stringify(value))}` : String(value);
}

/** Attributes of a `{% tag %}`, each with a space before it. */
export const writeAttributes = (attributes: readonly (readonly [string, PlainValue | undefined])[]): string =>
  attributes.map(([name, value]) => (value === undefined ? '' : ` ${name}=${writeValue(value)}`)).join('');

/** A tag line; flags of the dialect are quoted (`fullWidth="true"`), which is how the hosted service writes them. */
export const writeTag = (name: string, attributes: readonly (readonly [string, PlainValue | undefined])[]): string =>
  `{% ${name}${writeAttributes(attributes)} %}`;

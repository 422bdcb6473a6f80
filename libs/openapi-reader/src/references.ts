import type { SpecificationError } from './types.ts';

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Below these stand values of the author, in which `$ref` means nothing. */
const literals = new Set(['example', 'examples', 'default', 'enum', 'const', 'value']);
/** Below these stand names of the author, which may be any of the above. */
const named = new Set(['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas']);

const decoded = (pointer: string): string | undefined => {
  try {
    return decodeURIComponent(pointer);
  } catch {
    // Not percent-encoded: there is no such place.
    return undefined;
  }
};

/** Whether a JSON pointer leads somewhere, through own fields only. */
const leadsSomewhere = (root: unknown, pointer: string): boolean => {
  let at = root;
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isObject(at) || !Object.hasOwn(at, key)) return false;
    at = at[key];
  }
  return true;
};

/**
 * What is wrong with the references of a document. They may go round in circles, and lead nowhere outside the document:
 * following them would let its author have us fetch what they like.
 */
export const referenceErrors = (root: unknown, max: number): readonly SpecificationError[] => {
  const errors: SpecificationError[] = [];
  const anchors = new Set<string>();
  const references: { readonly reference: string; readonly path: string }[] = [];
  const collect = (value: unknown, path: string, names: boolean): void => {
    if (!isObject(value)) return;
    for (const [key, child] of Object.entries(value)) {
      const isName = names || Array.isArray(value);
      if (!isName && key === '$ref' && typeof child === 'string') references.push({ reference: child, path });
      else if (!isName && (key === '$anchor' || key === '$dynamicAnchor' || key === '$id') && typeof child === 'string')
        anchors.add(child);
      if (!isName && (literals.has(key) || key.startsWith('x-'))) continue;
      const step = key.replaceAll('~', '~0').replaceAll('/', '~1');
      collect(child, `${path}/${step}`, !isName && named.has(key));
    }
  };
  collect(root, '', false);
  for (const { reference, path } of references) {
    if (errors.length >= max) break;
    const [base = '', fragment = ''] = reference.split('#', 2);
    const place = decoded(fragment);
    const outside = base !== '' && !anchors.has(base);
    const message = outside
      ? `${path}: the reference ${reference} leads to another document, which is not followed; bundle the specification into one.`
      : `${path}: the reference ${reference} leads nowhere.`;
    // Below a schema with an address of its own, a pointer is relative to that schema.
    const relative = anchors.size > 0;
    const found =
      place !== undefined &&
      (place === '' || (place.startsWith('/') ? relative || leadsSomewhere(root, place) : anchors.has(place)));
    if (outside || !found) errors.push({ code: 'reference', message: message.slice(0, 500) });
  }
  return errors;
};

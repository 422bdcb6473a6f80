/** What browsers leave out of an address before they look at its scheme. */
const ignored = /[\p{Cc}\s\u200b-\u200f]+/gu;
const scriptable = /^(?:javascript|vbscript|data):/i;
/** Pictures that stand in the address itself run nothing. */
const picture = /^data:image\/(?:png|jpeg|gif|webp);/i;

/**
 * Whether following an address would run what stands in it: `javascript:`, `vbscript:` and `data:`, however it is disguised
 * with spaces and control characters.
 * @param use `image`: pictures in `data:` are fine
 */
export function isUnsafeAddress(address: string, use: 'link' | 'image' = 'link'): boolean {
  const plain = address.replace(ignored, '');
  return scriptable.test(plain) && !(use === 'image' && picture.test(plain));
}

/** Names under which documents and page metadata hold addresses. */
const names: ReadonlySet<string> = new Set(['url', 'href', 'src', 'canonical']);

/**
 * The first unsafe address in a document or in metadata, wherever it stands; undefined when there is none. Text is not
 * looked at: it leads nowhere.
 */
export function findUnsafeAddress(value: unknown): string | undefined {
  const stack: { readonly value: unknown; readonly use: 'link' | 'image' }[] = [{ value, use: 'link' }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (typeof at.value !== 'object' || at.value === null) continue;
    const { type } = at.value as { readonly type?: unknown };
    const use = type === undefined ? at.use : type === 'image' || type === 'inline-image' ? 'image' : 'link';
    for (const [name, inner] of Object.entries(at.value)) {
      if (typeof inner === 'string' && names.has(name) && isUnsafeAddress(inner, use)) return inner;
      if (typeof inner === 'object') stack.push({ value: inner, use: name === 'cover' ? 'image' : use });
    }
  }
  return undefined;
}

/** The part of a website that is imported: everything on a host below a path. */
export interface Scope {
  readonly host: string;
  /** Begins with `/`; ends with `/` or names one page with everything below it. */
  readonly prefix: string;
}

/** Parameters that only say where a visitor came from. */
const tracking = /^(?:utm_\w+|fbclid|gclid|msclkid|mc_cid|mc_eid|ref)$/i;
/** What is no page, by the end of its path. */
const notPages =
  /\.(?:avif|bmp|bz2|css|csv|dmg|docx?|eot|epub|exe|gif|gz|ico|jpe?g|js|json|map|mjs|mov|mp[34]|msi|ogg|otf|pdf|png|pptx?|rar|rss|svg|tar|tgz|tiff?|ttf|txt|wasm|wav|webm|webp|woff2?|xlsx?|xml|ya?ml|zip|7z)$/i;
const indexFile = /\/(?:index|default)\.(?:html?|php|aspx?)$/i;

/** The address that stands for all spellings of it; undefined for what is not fetched. */
export const canonicalUrl = (text: string, base?: string): string | undefined => {
  if (!URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  for (const name of [...url.searchParams.keys()]) if (tracking.test(name)) url.searchParams.delete(name);
  if (url.href.length > 2_048) return undefined;
  return url.href;
};

/** Equal for addresses that lead to the same page: whatever the scheme, the final slash, or the name of the index file. */
export const keyOfUrl = (href: string): string => {
  const url = new URL(href);
  const path = url.pathname.replace(indexFile, '/').replace(/\/+$/, '');
  return `${url.host}${path}${url.search}`;
};

/** What is below the page that an import begins with. */
export const scopeOf = (href: string): Scope => {
  const { host, pathname } = new URL(href);
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  return { host, prefix: last.includes('.') ? pathname.slice(0, pathname.lastIndexOf('/') + 1) : pathname };
};

/** Whether an address belongs to the part of the website that is imported. */
export const isInScope = (href: string, { host, prefix }: Scope): boolean => {
  const url = new URL(href);
  if (url.host !== host) return false;
  if (url.pathname === prefix || `${url.pathname}/` === prefix) return true;
  return url.pathname.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
};

/** Whether an address may lead to a page, by its ending. */
export const maybePage = (href: string): boolean => !notPages.test(new URL(href).pathname);

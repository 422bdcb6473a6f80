import { isUnsafeAddress, slugify } from '@bindery/documents';
import { all, type DomDocument, type DomElement, lineOf, unwrap } from './dom.ts';

/** What runs, what is only for browsers, and what asks for input. */
const never =
  'script,style,noscript,template,iframe,frame,frameset,object,embed,applet,svg,math,canvas,audio,video,form>button,input:not([type="checkbox"]),select,textarea,dialog,link,meta,[hidden],[aria-hidden="true"]';
/** What stands around the text. */
const around =
  'nav,header,footer,aside,[role="navigation"],[role="banner"],[role="contentinfo"],[role="search"],[role="complementary"],.sidebar,.toc,.table-of-contents,.breadcrumb,.breadcrumbs,.pagination,.skip-link,.edit-this-page';
/** Where the text is, the surest place first. */
const roots = ['main article', 'article', 'main', '[role="main"]', '#content', '.markdown-body', '.document'];

const absolute = (href: string, base: string): string | undefined => {
  if (isUnsafeAddress(href) || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return /^(?:https?|mailto|tel):$/.test(url.protocol) ? url.href : undefined;
};

/** Addresses in the document are relative to this. */
export const baseOf = (document: DomDocument, url: string): string => {
  const href = document.querySelector('base[href]')?.getAttribute('href');
  const base = href == null ? undefined : absolute(href, url);
  return base !== undefined && /^https?:/.test(base) ? base : url;
};

/** Where links of the whole document lead, but for those that ask not to be followed. */
export const linksOf = (document: DomDocument, base: string, most: number): readonly string[] => {
  const found = new Set<string>();
  for (const link of all(document, 'a[href]')) {
    if (found.size >= most) break;
    if (/(?:^|\s)nofollow(?:\s|$)/i.test(link.getAttribute('rel') ?? '')) continue;
    const address = absolute(link.getAttribute('href') ?? '', base);
    if (address === undefined || !/^https?:/.test(address)) continue;
    const url = new URL(address);
    url.hash = '';
    found.add(url.href);
  }
  return [...found];
};

/** The element with the text, and nothing else in it than text. */
export const contentOf = (document: DomDocument, trim: boolean): DomElement | undefined => {
  for (const element of all(document, never)) element.remove();
  const { body } = document;
  if (body === null) return undefined;
  if (!trim) return body;
  const root = roots
    .map((selector) => document.querySelector(selector))
    .find((it) => lineOf(it?.textContent).length > 0);
  const content = root ?? body;
  for (const element of all(content, around)) {
    // The heading of a page often stands in a header inside of its article.
    const heading = element.nodeName === 'HEADER' && root !== undefined ? element.querySelector('h1') : null;
    if (!heading) element.remove();
  }
  return content;
};

/** Links without places to go to are text; the signs beside headings that lead to the headings themselves go. */
export const cleanLinks = (content: DomElement, base: string): void => {
  for (const link of all(content, 'a')) {
    const href = link.getAttribute('href');
    const text = lineOf(link.textContent);
    const inHeading = /^H[1-6]$/.test(link.parentNode?.nodeName ?? '');
    if (inHeading && /^[#¶§🔗\u200b]*$/u.test(text) && !link.querySelector('img')) {
      link.remove();
      continue;
    }
    const address = href === null ? undefined : absolute(href, base);
    if (address === undefined || (inHeading && href?.startsWith('#') === true)) unwrap(link);
    else link.setAttribute('href', address);
  }
};

const sourceOf = (image: DomElement): string | undefined => {
  const first = ['src', 'data-src', 'data-original'].map((name) => image.getAttribute(name)).find((it) => it);
  return (
    first ??
    image
      .getAttribute('srcset')
      ?.trim()
      .split(/[\s,]+/)[0]
  );
};

/** Makes addresses of pictures absolute. @returns where they are, and how many were left out since they stand in the page itself */
export const cleanImages = (content: DomElement, base: string, most: number) => {
  let inline = 0;
  const found = new Set<string>();
  for (const image of all(content, 'img')) {
    const source = sourceOf(image);
    if (source !== undefined && /^\s*data:/i.test(source)) inline += 1;
    const address = source === undefined ? undefined : absolute(source, base);
    if (address === undefined || !/^https?:/.test(address)) image.remove();
    else {
      image.setAttribute('src', address);
      if (found.size < most) found.add(address);
    }
  }
  return { inline, images: [...found] };
};

const languageIn = (element: DomElement | null | undefined): string | undefined => {
  const named = element?.getAttribute('data-lang') ?? element?.getAttribute('data-language');
  const found =
    named ??
    /(?:^|\s)(?:language|lang|highlight-source|highlight|brush:)[-\s]?([\w+#-]+)/.exec(element?.className ?? '')?.[1];
  return found === undefined || /^(?:none|text|plaintext|default)$/.test(found) ? undefined : found;
};

/** Code is text with a language, however it is coloured. */
export const cleanCode = (document: DomDocument, content: DomElement): void => {
  for (const pre of all(content, 'pre')) {
    for (const line of all(pre, 'br')) {
      line.parentNode?.insertBefore(document.createTextNode('\n'), line);
      line.remove();
    }
    const around = [pre.querySelector('code'), pre, pre.parentNode, pre.parentNode?.parentNode ?? null];
    const language = around.map(languageIn).find((it) => it !== undefined);
    const text = pre.textContent;
    for (let child = pre.firstChild; child !== null; child = pre.firstChild) (child as DomElement).remove();
    const code = document.createElement('code');
    if (language !== undefined) code.setAttribute('class', `language-${language}`);
    code.appendChild(document.createTextNode(text));
    pre.appendChild(code);
  }
};

/** The anchors by which headings are known elsewhere, and those that they have in the document. */
export const anchorsOf = (content: DomElement): Readonly<Record<string, string>> => {
  const anchors = new Map<string, string>();
  const taken = new Map<string, number>();
  for (const heading of all(content, 'h1,h2,h3,h4,h5,h6')) {
    const text = lineOf(heading.textContent);
    if (text === '') continue;
    const slug = slugify(text);
    const count = taken.get(slug) ?? 0;
    taken.set(slug, count + 1);
    const anchor = count === 0 ? slug : `${slug}-${count}`;
    const inner = heading.querySelector('[id],a[name]');
    const ids = [
      heading.getAttribute('id'),
      inner?.getAttribute('id'),
      inner?.getAttribute('name'),
      heading.parentNode?.nodeName === 'SECTION' ? heading.parentNode.getAttribute('id') : null,
    ];
    for (const id of ids) if (id && !anchors.has(id)) anchors.set(id, anchor);
  }
  return Object.fromEntries(anchors);
};

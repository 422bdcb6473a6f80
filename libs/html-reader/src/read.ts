import { createDocument } from '@mixmark-io/domino';
import { anchorsOf, baseOf, cleanCode, cleanImages, cleanLinks, contentOf, linksOf } from './clean.ts';
import { isTooDeep } from './depth.ts';
import { type DomDocument, type DomElement, lineOf } from './dom.ts';
import { createWriter } from './markdown.ts';
import { type HtmlPage, type HtmlReading, type HtmlSource, maxImages, maxLinks } from './types.ts';

/** Where a document may say how its characters are written. */
const charsetWindow = 2_048;

const decoderFor = (label: string | undefined): TextDecoder => {
  try {
    return new TextDecoder(label ?? 'utf-8');
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder('utf-8');
    throw error;
  }
};

/** The text of a document, in the encoding that it names; UTF-8 when it names none that is known. */
export const textOf = (bytes: Uint8Array): string => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  const start = Buffer.from(bytes.subarray(0, charsetWindow)).toString('latin1');
  const named = /<meta[^>]{0,200}?charset\s{0,5}=\s{0,5}["']?([\w-]{1,40})/i.exec(start)?.[1];
  return decoderFor(named).decode(bytes);
};

const metaOf = (document: DomDocument, name: string): string | undefined => {
  const text = lineOf(document.querySelector(`meta[name="${name}"]`)?.getAttribute('content'));
  return text === '' ? undefined : text;
};

/** The title of the document without the name of its site. */
const documentTitle = (document: DomDocument): string => {
  const title = lineOf(document.querySelector('title')?.textContent);
  const [first = ''] = title.split(/\s+[|·–—»]\s+|\s+-\s+/);
  return first === '' ? title : first;
};

/** Takes the first heading out of the content. */
const takeTitle = (content: DomElement): string => {
  const heading = content.querySelector('h1');
  const text = lineOf(heading?.textContent);
  if (text !== '') heading?.remove();
  return text;
};

const canonicalOf = (document: DomDocument, base: string): string | undefined => {
  const href = document.querySelector('link[rel~="canonical"]')?.getAttribute('href');
  if (href == null || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return /^https?:$/.test(url.protocol) ? url.href : undefined;
};

const pageOf = (document: DomDocument, { url, trim }: HtmlSource): HtmlPage => {
  const base = baseOf(document, url);
  const robots = metaOf(document, 'robots')?.toLowerCase() ?? '';
  const description = metaOf(document, 'description');
  const canonical = canonicalOf(document, base);
  const named = documentTitle(document);
  const links = /nofollow|none/.test(robots) ? [] : linksOf(document, base, maxLinks);
  const common = {
    links,
    noindex: /noindex|none/.test(robots),
    ...(description === undefined ? {} : { description }),
    ...(canonical === undefined ? {} : { canonical }),
  };
  const content = contentOf(document, trim);
  if (content === undefined) return { ...common, markdown: '', anchors: {}, images: [], inlineImages: 0 };
  cleanCode(document, content);
  cleanLinks(content, base);
  const title = takeTitle(content) || named;
  const anchors = anchorsOf(content);
  const { inline: inlineImages, images } = cleanImages(content, base, maxImages);
  const markdown = createWriter().write(content);
  return { ...common, ...(title === '' ? {} : { title }), markdown, anchors, images, inlineImages };
};

/**
 * Reads a page. Nothing of it runs, and nothing is fetched. What is broken is read as browsers do.
 * @throws RangeError for what is nested too deeply in spite of the look before
 */
export const readHtml = (source: HtmlSource): HtmlReading => {
  const html = textOf(source.bytes);
  if (isTooDeep(html)) return { ok: false, reason: 'depth', message: 'The page is nested too deeply.' };
  return { ok: true, page: pageOf(createDocument(html), source) };
};

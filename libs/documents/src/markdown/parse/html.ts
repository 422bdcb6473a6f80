import { Parser } from 'htmlparser2';

export interface HtmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: HtmlNode[];
}
export type HtmlNode = HtmlElement | string;

/** Elements nested deeper than this are flattened into their ancestor. */
const maxDepth = 20;

/** The parser's work grows with depth, so that absurd nesting is not given to it. */
const maxSourceDepth = 500;
const voidElements = new Set([
  'img',
  'br',
  'source',
  'option',
  'input',
  'hr',
  'wbr',
  'col',
  'td',
  'th',
  'tr',
  'p',
  'li',
]);

function isTooDeep(source: string): boolean {
  let depth = 0;
  for (const [, slash, name = ''] of source.matchAll(/<(\/?)([a-zA-Z][a-zA-Z0-9-]*)/g)) {
    if (voidElements.has(name.toLowerCase())) continue;
    depth = slash === '/' ? Math.max(0, depth - 1) : depth + 1;
    if (depth > maxSourceDepth) return true;
  }
  return false;
}

/**
 * Parses a fragment of HTML into a small tree; never throws, entities are decoded, comments are left out. Nesting beyond
 * all reason makes the whole fragment text.
 */
export function parseHtml(source: string): HtmlNode[] {
  if (isTooDeep(source)) return [source];
  const root: HtmlElement = { name: '', attributes: {}, children: [] };
  const path: HtmlElement[] = [root];
  let flattened = 0;
  const top = (): HtmlElement => path.at(-1) ?? root;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (path.length > maxDepth) {
          flattened++;
          return;
        }
        const element: HtmlElement = { name, attributes, children: [] };
        top().children.push(element);
        path.push(element);
      },
      ontext(text) {
        const { children } = top();
        const last = children.at(-1);
        if (typeof last === 'string') children[children.length - 1] = last + text;
        else children.push(text);
      },
      onclosetag() {
        if (flattened > 0) flattened--;
        else if (path.length > 1) path.pop();
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  parser.write(source);
  parser.end();
  return root.children;
}

export const isElement = (node: HtmlNode): node is HtmlElement => typeof node !== 'string';

/** The element children, when there is no other text than white space between them. */
export function onlyElements(nodes: readonly HtmlNode[]): HtmlElement[] | undefined {
  if (nodes.some((node) => !isElement(node) && node.trim() !== '')) return undefined;
  return nodes.filter(isElement);
}

/** All text below some nodes. */
export const textOf = (nodes: readonly HtmlNode[]): string =>
  nodes.map((node) => (isElement(node) ? textOf(node.children) : node)).join('');

/** The first element with one of the names among the children. */
export const childNamed = (element: HtmlElement, ...names: string[]): HtmlElement | undefined =>
  element.children.find((node): node is HtmlElement => isElement(node) && names.includes(node.name));

const openTag = /^<([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[^\s"'<>=/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*)\s*(\/?)>$/;
const closeTag = /^<\/([a-zA-Z][a-zA-Z0-9-]*)\s*>$/;

/** One HTML tag inside markdown text. */
export interface InlineTag {
  readonly kind: 'open' | 'close';
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Reads the source of a single tag, as markdown-it finds it in text. */
export function parseTag(source: string): InlineTag | undefined {
  const close = closeTag.exec(source)?.[1];
  if (close !== undefined) return { kind: 'close', name: close.toLowerCase(), attributes: {} };
  const open = openTag.exec(source)?.[1];
  if (open === undefined) return undefined;
  const [element] = parseHtml(source);
  const attributes = element !== undefined && isElement(element) ? element.attributes : {};
  return { kind: 'open', name: open.toLowerCase(), attributes };
}

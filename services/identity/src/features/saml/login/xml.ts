import { createRequire } from 'node:module';
import { demand, SamlRefusal } from './refusal.ts';

/** What is used of the nodes of the parser, whose own types are those of browsers. */
interface XmlNode {
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly childNodes: ArrayLike<XmlNode>;
}

/** An element as it is used here. */
export interface XmlElement extends XmlNode {
  readonly localName: string | null;
  readonly namespaceURI: string | null;
  readonly attributes: ArrayLike<{ readonly name: string; readonly value: string }>;
  getAttribute(name: string): string | null;
}

interface XmlParser {
  parseFromString(text: string, type: 'text/xml'): { readonly documentElement: XmlElement | null };
}

/**
 * The very parser that the SAML library reads with, so that both see the same. Loaded without its types: they would make
 * the globals of browsers known everywhere.
 */
const { DOMParser }: { readonly DOMParser: new (options: object) => XmlParser } = createRequire(import.meta.url)(
  '@xmldom/xmldom',
);

/** Namespaces of SAML 2.0 and of XML signatures. */
export const ns = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
} as const;

const mostElements = 5000;
const mostDepth = 40;

/**
 * Parses XML that holds nothing but elements, attributes and text. Comments, processing instructions, CDATA, document
 * types and entities are not needed by SAML, and every one of them has been used to make two readers see two texts.
 * @throws SamlRefusal
 */
export const parsePlainXml = (text: string): XmlElement => {
  const body = text.replace(/^\uFEFF?<\?xml [^<>?]{0,100}\?>/, '').trimStart();
  // In well-formed XML a `<` stands for itself nowhere, so that looking at the text is enough.
  demand(body.startsWith('<') && !body.includes('<!') && !body.includes('<?'), 'markup');
  demand(body.split('<').length <= 2 * mostElements, 'structure');
  let root: XmlElement | null = null;
  let broken = false;
  const fail = (): void => {
    broken = true;
  };
  try {
    root = new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } }).parseFromString(
      body,
      'text/xml',
    ).documentElement;
  } catch {
    broken = true;
  }
  if (broken || root === null) throw new SamlRefusal('markup');
  return root;
};

const isElement = (node: XmlNode): node is XmlElement => node.nodeType === 1;

/** Child elements, in order. */
export const childrenOf = (element: XmlNode): readonly XmlElement[] => Array.from(element.childNodes).filter(isElement);

/** Every element with its depth, the root first. @throws SamlRefusal when it is nested too deeply */
export const everyElement = (root: XmlElement): readonly XmlElement[] => {
  const found: XmlElement[] = [];
  const waiting: { readonly element: XmlElement; readonly depth: number }[] = [{ element: root, depth: 1 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { element, depth } = next;
    demand(depth <= mostDepth && found.length < mostElements, 'structure');
    found.push(element);
    for (const child of childrenOf(element)) waiting.push({ element: child, depth: depth + 1 });
  }
  return found;
};

/** Children of this name. */
export const named = (parent: XmlElement, namespace: string, name: string): readonly XmlElement[] =>
  childrenOf(parent).filter((child) => child.localName === name && child.namespaceURI === namespace);

/** The one child of this name; undefined unless there is exactly one. */
export const only = (parent: XmlElement | undefined, namespace: string, name: string): XmlElement | undefined => {
  const found = parent === undefined ? [] : named(parent, namespace, name);
  return found.length === 1 ? found[0] : undefined;
};

/** The text of an element that holds nothing but text; undefined when there are elements in it. */
export const textOf = (element: XmlElement | undefined): string | undefined =>
  element === undefined || Array.from(element.childNodes).some(({ nodeType }) => nodeType !== 3)
    ? undefined
    : (element.textContent ?? '').trim();

/** An attribute without a namespace; undefined when it is absent or empty. */
export const attributeOf = (element: XmlElement | undefined, name: string): string | undefined =>
  element?.getAttribute(name) || undefined;

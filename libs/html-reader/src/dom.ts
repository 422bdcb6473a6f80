/** What is used of the document object model of the parser. */
export interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string;
  readonly parentNode: DomElement | null;
  readonly nextSibling: DomNode | null;
}
export interface DomElement extends DomNode {
  readonly childNodes: ArrayLike<DomNode>;
  readonly firstChild: DomNode | null;
  readonly className: string;
  readonly attributes: ArrayLike<{ readonly name: string }>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  hasAttribute(name: string): boolean;
  querySelector(selector: string): DomElement | null | undefined;
  querySelectorAll(selector: string): ArrayLike<DomElement>;
  remove(): void;
  appendChild(node: DomNode): void;
  insertBefore(node: DomNode, before: DomNode | null): void;
}
export interface DomDocument extends DomElement {
  readonly body: DomElement | null;
  createElement(name: string): DomElement;
  createTextNode(text: string): DomNode;
}

/** Everything that matches, as an array that stays the same while the tree changes. */
export const all = (root: DomElement, selector: string): readonly DomElement[] =>
  Array.from(root.querySelectorAll(selector));

/** Puts what is inside an element in its place. */
export const unwrap = (element: DomElement): void => {
  const parent = element.parentNode;
  if (parent === null) return;
  for (let child = element.firstChild; child !== null; child = element.firstChild) parent.insertBefore(child, element);
  element.remove();
};

/** Text in one line. */
export const lineOf = (text: string | null | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim();

import type { JSONDocument } from '@bindery/contracts';
import type { PageNode, RevisionReader, Tree } from '../revisions/index.ts';

/** Any node of a document, for code that does not care which. */
interface LooseNode {
  readonly object: string;
  readonly type?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly nodes?: readonly LooseNode[];
  readonly fragments?: readonly { readonly nodes: readonly LooseNode[] }[];
}
/** What stands in place of a node; undefined = the node stays, and what is inside it is looked at. */
type Replace = (node: LooseNode) => readonly LooseNode[] | undefined;

const replaceIn = (nodes: readonly LooseNode[], replace: Replace): readonly LooseNode[] => {
  let changed = false;
  const result = nodes.flatMap((node) => {
    const instead = replace(node);
    const kept = instead ?? [descend(node, replace)];
    if (instead !== undefined || kept[0] !== node) changed = true;
    return kept;
  });
  return changed ? result : nodes;
};

const descend = (node: LooseNode, replace: Replace): LooseNode => {
  const nodes = node.nodes && replaceIn(node.nodes, replace);
  const fragments = node.fragments?.map((fragment) => {
    const inside = replaceIn(fragment.nodes, replace);
    return inside === fragment.nodes ? fragment : { ...fragment, nodes: inside };
  });
  const same = nodes === node.nodes && (fragments?.every((it, index) => it === node.fragments?.[index]) ?? true);
  return same ? node : { ...node, ...(nodes ? { nodes } : {}), ...(fragments ? { fragments } : {}) };
};

const transformed = (document: JSONDocument, replace: Replace): JSONDocument => {
  const before = document.nodes as unknown as readonly LooseNode[];
  const nodes = replaceIn(before, replace);
  // Replacing keeps the kind of node: blocks by blocks, inlines by text.
  return nodes === before ? document : { ...document, nodes: nodes as unknown as JSONDocument['nodes'] };
};

type Values = Readonly<Record<string, string | number | boolean>>;
const variable = /^\s*(space|page)\.vars\.([A-Za-z_$][\w$]*)\s*$/;

/**
 * Puts the values of variables in place of expressions that name one (`space.vars.version`, `page.vars.name`). Other
 * expressions, which depend on the visitor or are more than a name, stay as they are.
 */
export const evaluated = (
  document: JSONDocument,
  variables: { readonly space: Values; readonly page: Values },
): JSONDocument =>
  transformed(document, (node) => {
    if (node.type !== 'expression' || typeof node.data?.expression !== 'string') return undefined;
    const [, scope, name] = variable.exec(node.data.expression) ?? [];
    const values = scope === 'page' ? variables.page : variables.space;
    if (name === undefined || !Object.hasOwn(values, name)) return undefined;
    return [{ object: 'text', leaves: [{ object: 'leaf', text: String(values[name]), marks: [] }] } as LooseNode];
  });

/** How deep reusable contents may stand in one another, and how many of them one page may show. */
const maxNesting = 8;
const maxInsertions = 200;

const referredContent = (node: LooseNode, spaceId: string): string | undefined => {
  if (node.type !== 'reusable-content') return undefined;
  const { kind, reusableContent, space } = Object(node.data?.ref) as Readonly<Record<string, unknown>>;
  if (kind !== 'reusable-content' || typeof reusableContent !== 'string') return undefined;
  return space === undefined || space === spaceId ? reusableContent : undefined;
};

const contentsIn = (document: JSONDocument, spaceId: string): readonly string[] => {
  const ids: string[] = [];
  transformed(document, (node) => {
    const id = referredContent(node, spaceId);
    if (id !== undefined) ids.push(id);
    return undefined;
  });
  return ids;
};

/**
 * Puts reusable contents of the same revision in place of the blocks that refer to them. Ones that are missing, stand in
 * themselves, or come too deep or too often stay references.
 */
export const dereferenced = async (
  document: JSONDocument,
  source: { readonly spaceId: string; readonly tree: Tree; readonly reader: RevisionReader },
): Promise<JSONDocument> => {
  const { spaceId, tree, reader } = source;
  const bodies = new Map<string, JSONDocument>();
  let wanted = contentsIn(document, spaceId);
  for (let depth = 0; depth < maxNesting && wanted.length > 0; depth += 1) {
    const missing = [...new Set(wanted)].filter((id) => !bodies.has(id)).slice(0, maxInsertions - bodies.size);
    const documentIds = new Map(
      missing.flatMap((id) => {
        const documentId = tree.reusableContent(id)?.documentId;
        return documentId === undefined ? [] : [[id, documentId] as const];
      }),
    );
    const loaded = await reader.documents(spaceId, [...documentIds.values()]);
    const found = [...documentIds].flatMap(([id, documentId]) => {
      const body = loaded.get(documentId);
      return body === undefined ? [] : [[id, body] as const];
    });
    for (const [id, body] of found) bodies.set(id, body);
    wanted = found.flatMap(([, body]) => contentsIn(body, spaceId));
  }
  if (bodies.size === 0) return document;

  let insertions = 0;
  const within =
    (inside: readonly string[]): Replace =>
    (node) => {
      const id = referredContent(node, spaceId);
      const body = id === undefined || inside.includes(id) || inside.length >= maxNesting ? undefined : bodies.get(id);
      if (id === undefined || body === undefined || insertions >= maxInsertions) return undefined;
      insertions += 1;
      return transformed(body, within([...inside, id])).nodes as unknown as readonly LooseNode[];
    };
  return transformed(document, within([]));
};

/** The query options of page reads that change the body. */
export interface BodyOptions {
  readonly evaluated?: 'true' | 'false' | 'deterministic-only';
  readonly dereferenced?: 'true' | 'false' | 'reusable-contents';
}

/** A body as the options ask for it. Values of variables are always deterministic. */
export const bodyFor = async (
  document: JSONDocument,
  options: BodyOptions,
  source: { readonly spaceId: string; readonly tree: Tree; readonly reader: RevisionReader; readonly page?: PageNode },
): Promise<JSONDocument> => {
  const whole = (options.dereferenced ?? 'false') === 'false' ? document : await dereferenced(document, source);
  if ((options.evaluated ?? 'false') === 'false') return whole;
  return evaluated(whole, { space: source.tree.variables, page: source.page?.metadata.variables ?? {} });
};

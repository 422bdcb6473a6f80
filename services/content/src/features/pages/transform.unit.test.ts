import type { JSONDocument } from '@bindery/contracts';
import { parseMarkdown, plainText } from '@bindery/documents';
import { describe, expect, test } from '@jest/globals';
import { applyChanges, emptyTree, type RevisionReader } from '../revisions/index.ts';
import { bodyFor } from './transform.ts';

const paragraph = (text: string): JSONDocument['nodes'][number] => ({
  object: 'block',
  type: 'paragraph',
  nodes: [{ object: 'text', leaves: [{ object: 'leaf', text, marks: [] }] }],
});
const reference = (reusableContent: string, space?: string): JSONDocument['nodes'][number] => ({
  object: 'block',
  type: 'reusable-content',
  isVoid: true,
  data: { ref: { kind: 'reusable-content', reusableContent, ...(space ? { space } : {}) } },
});
const documentOf = (...nodes: JSONDocument['nodes']): JSONDocument => ({ object: 'document', data: {}, nodes });

const setup = (contents: Readonly<Record<string, JSONDocument>>) => {
  const tree = applyChanges(emptyTree, [
    ...Object.keys(contents).map((id) => ({
      kind: 'reusable_content_put' as const,
      content: { id, title: id, documentId: `${id}-document` },
    })),
    { kind: 'variables_set', variables: { version: '1.2', count: 3, constructor: 'own' } },
  ]);
  const reader: RevisionReader = {
    info: async () => undefined,
    tree: async () => tree,
    documents: async (_, ids) =>
      new Map(
        ids.flatMap((id) => {
          const found = contents[id.replace('-document', '')];
          return found ? [[id, found] as const] : [];
        }),
      ),
  };
  return { spaceId: 's1', tree, reader };
};

describe('reusable contents in place', () => {
  test('also inside of containers and of one another', async () => {
    const source = setup({ a: documentOf(paragraph('A'), reference('b')), b: documentOf(paragraph('B')) });
    const hint: JSONDocument['nodes'][number] = {
      object: 'block',
      type: 'hint',
      data: { style: 'info' },
      nodes: [reference('b')],
    };
    const body = await bodyFor(documentOf(reference('a'), hint), { dereferenced: 'true' }, source);
    expect(plainText(body)).toBe('A\nB\nB');
    expect(JSON.stringify(body)).not.toContain('reusable-content');
  });

  test('not unless asked, not of other spaces, not what is missing', async () => {
    const source = setup({ a: documentOf(paragraph('A')) });
    const document = documentOf(reference('a'), reference('a', 's2'), reference('gone'));
    expect(await bodyFor(document, {}, source)).toBe(document);
    const body = await bodyFor(document, { dereferenced: 'reusable-contents' }, source);
    expect(body.nodes.map(({ type }) => type)).toEqual(['paragraph', 'reusable-content', 'reusable-content']);
  });

  test('one that stands in itself, and a bomb of references, end', async () => {
    const loop = setup({ a: documentOf(paragraph('A'), reference('b')), b: documentOf(reference('a')) });
    expect(plainText(await bodyFor(documentOf(reference('a')), { dereferenced: 'true' }, loop))).toBe('A');
    const many = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [
        `c${at}`,
        documentOf(paragraph('x'), ...Array.from({ length: 10 }, () => reference(`c${at + 1}`))),
      ]),
    );
    const body = await bodyFor(documentOf(reference('c0')), { dereferenced: 'true' }, setup(many));
    expect(JSON.stringify(body).length).toBeLessThan(1_000_000);
  });
});

describe('expressions', () => {
  const expression = (text: string): JSONDocument =>
    documentOf({
      object: 'block',
      type: 'paragraph',
      nodes: [{ object: 'inline', type: 'expression', isVoid: true, data: { expression: text } }],
    });
  const evaluate = async (text: string): Promise<string> =>
    plainText(await bodyFor(expression(text), { evaluated: 'true' }, setup({})));

  test('that name a variable get its value, others stay', async () => {
    expect(await evaluate('space.vars.version')).toBe('1.2');
    expect(await evaluate(' space.vars.count ')).toBe('3');
    expect(await evaluate('space.vars.constructor')).toBe('own');
    for (const text of ['space.vars.missing', 'space.vars.toString', 'page.vars.version', 'space.vars.count + 1'])
      expect(await evaluate(text)).toBe('');
    const document = expression('space.vars.version');
    expect(await bodyFor(document, { evaluated: 'false' }, setup({}))).toBe(document);
  });

  test('of the page come from the page', async () => {
    const page = {
      id: 'p1',
      type: 'document' as const,
      parent: null,
      metadata: { title: 'P', slug: 'p', variables: { name: 'own' } },
    };
    const body = await bodyFor(
      expression('page.vars.name'),
      { evaluated: 'deterministic-only' },
      { ...setup({}), page },
    );
    expect(plainText(body)).toBe('own');
  });

  test('documents without any are not copied', async () => {
    const { document } = parseMarkdown('# T\n\nText, **bold**.\n\n* a\n* b\n');
    expect(await bodyFor(document, { evaluated: 'true', dereferenced: 'true' }, setup({}))).toBe(document);
  });
});

import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { components } from '../kit/components.ts';
import { blockTypeNames, type JSONDocument } from './document.ts';

const ajv = new Ajv2020({ discriminator: true, strict: false });
ajv.addSchema({
  $id: 'http://contract/',
  components: { schemas: JSON.parse(JSON.stringify(Object.fromEntries(components()))) },
});
const validator = (name: string) => ajv.compile({ $ref: `http://contract/#/components/schemas/${name}` });
const isDocument = validator('JSONDocument');
const isInput = validator('Document');

const text = (value: string) => ({ object: 'text', leaves: [{ object: 'leaf', text: value, marks: [] }] });
const paragraph = { object: 'block', type: 'paragraph', nodes: [text('a')] };
const document = (...nodes: unknown[]) => ({ object: 'document', data: { schemaVersion: 1 }, nodes });
const link = (ref: unknown) => ({ object: 'inline', type: 'link', data: { ref }, nodes: [text('a')] });

describe('rich text in requests', () => {
  test.each<[string, unknown]>([
    ['empty', document()],
    ['paragraph', document(paragraph)],
    [
      'marks',
      document({
        ...paragraph,
        nodes: [
          {
            object: 'text',
            leaves: [
              {
                object: 'leaf',
                text: 'a',
                marks: [
                  { object: 'mark', type: 'bold' },
                  { object: 'mark', type: 'color', data: { text: '$primary', background: 'red' } },
                ],
              },
            ],
          },
        ],
      }),
    ],
    ['link', document({ ...paragraph, nodes: [link({ kind: 'page', page: 'p' })] })],
    [
      'nested',
      document({
        object: 'block',
        type: 'hint',
        data: { style: 'info' },
        nodes: [
          {
            object: 'block',
            type: 'list-unordered',
            nodes: [{ object: 'block', type: 'list-item', nodes: [paragraph] }],
          },
        ],
      }),
    ],
    [
      'table',
      document({
        object: 'block',
        type: 'table',
        isVoid: true,
        data: {
          view: { type: 'grid', columns: ['a'], hideHeader: false },
          records: { r: { orderIndex: '1', values: { a: 'f', b: { kind: 'url', url: 'x' }, c: ['x'], d: null } } },
          definition: { a: { id: 'a', title: 'A', type: 'text' } },
        },
        fragments: [{ object: 'fragment', fragment: 'f', nodes: [paragraph] }],
      }),
    ],
    [
      'expandable',
      document({
        object: 'block',
        type: 'expandable',
        isVoid: true,
        data: {},
        fragments: [{ object: 'fragment', fragment: 'expandable-title', nodes: [paragraph] }],
      }),
    ],
    [
      'columns',
      document({
        object: 'block',
        type: 'columns',
        isVoid: false,
        nodes: [{ object: 'block', type: 'column', data: { width: { unit: '%', value: 50 } }, nodes: [paragraph] }],
      }),
    ],
  ])('%s is accepted', (_, value) => {
    expect([isDocument(value), isDocument.errors]).toEqual([true, null]);
  });

  test.each<[string, unknown, string]>([
    ['an unknown block', document({ ...paragraph, type: 'marquee' }), '/nodes/0'],
    ['a list item outside of a list', document({ object: 'block', type: 'list-item', nodes: [] }), '/nodes/0'],
    ['an unknown field', document({ ...paragraph, style: 'x' }), '/nodes/0'],
    [
      'an unknown mark',
      document({
        ...paragraph,
        nodes: [
          { object: 'text', leaves: [{ object: 'leaf', text: 'a', marks: [{ object: 'mark', type: 'blink' }] }] },
        ],
      }),
      '/nodes/0/nodes/0/leaves/0/marks/0/type',
    ],
    [
      'a reference of two kinds',
      document({ ...paragraph, nodes: [link({ kind: 'page', url: 'x' })] }),
      '/nodes/0/nodes/0/data/ref',
    ],
    ['an inline that is no object', document({ ...paragraph, nodes: ['text'] }), '/nodes/0/nodes/0'],
    ['a hint without style', document({ object: 'block', type: 'hint', data: {}, nodes: [] }), '/nodes/0/data'],
  ])('%s is refused where it is', (_, value, path) => {
    expect(isDocument(value)).toBe(false);
    expect(isDocument.errors?.map((error) => error.instancePath)).toContain(path);
  });

  test('an unknown block type is named in the error', () => {
    isDocument(document({ ...paragraph, type: 'marquee' }));
    expect(isDocument.errors).toMatchObject([
      { keyword: 'discriminator', params: { tag: 'type', tagValue: 'marquee' } },
    ]);
  });

  test('a document comes as markdown, as nodes, or empty, and never as two of them', () => {
    expect([{ markdown: 'a' }, { document: document() }, {}].map((value) => isInput(value))).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      [{ markdown: 'a', document: document() }, { markdown: 1 }, { text: 'a' }].map((value) => isInput(value)),
    ).toEqual([false, false, false]);
  });

  test('every type of the reference is there', () => {
    expect(blockTypeNames).toHaveLength(31);
  });

  test('a document of 5,000 nodes is checked in little time', () => {
    const large: JSONDocument = JSON.parse(JSON.stringify(document(...Array.from({ length: 1250 }, () => paragraph))));
    isDocument(large);
    const start = performance.now();
    expect(isDocument(large)).toBe(true);
    expect(performance.now() - start).toBeLessThan(250);
  });
});

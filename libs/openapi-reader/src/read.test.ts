import { describe, expect, test } from '@jest/globals';
import { createSpecificationReader, type Reading, readSpecification } from './index.ts';

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));
const read = (text: string): Reading => readSpecification(bytesOf(text));
const codes = (reading: Reading): readonly string[] => (reading.ok ? [] : reading.errors.map(({ code }) => code));

const minimal = (version: object, more: object = {}): string =>
  JSON.stringify({ ...version, info: { title: 'T', version: '1' }, paths: {}, ...more });
const circular = minimal(
  { openapi: '3.1.0' },
  {
    components: {
      schemas: { Node: { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } } },
    },
  },
);

describe('reading specifications', () => {
  test.each([
    ['2.0', { swagger: '2.0' }],
    ['3.0.3', { openapi: '3.0.3' }],
    ['3.1.0', { openapi: '3.1.0' }],
  ])('version %s', (version, declared) => {
    expect(read(minimal(declared))).toMatchObject({ ok: true, format: 'json', specVersion: version });
  });

  test('a document in YAML is the same content as in JSON, whatever the order of its keys', () => {
    const yaml = read('paths: {}\nopenapi: 3.0.3\ninfo:\n  version: "1"\n  title: T\n');
    const json = read(minimal({ openapi: '3.0.3' }));
    expect(yaml).toMatchObject({ ok: true, format: 'yaml' });
    expect(yaml.ok && yaml.contentHash).toBe(json.ok && json.contentHash);
  });

  test('references may go round in circles', () => {
    expect(read(circular)).toMatchObject({ ok: true });
  });

  test.each([
    ['no document at all', 'nothing', 'not-openapi'],
    ['broken JSON', '{"openapi": ', 'syntax'],
    ['something else', '{"name": "x"}', 'not-openapi'],
    ['without info', '{"openapi":"3.0.3","paths":{}}', 'schema'],
    ['a key that names the prototype', '{"openapi":"3.0.3","__proto__":{},"info":{},"paths":{}}', 'forbidden-key'],
    ['a reference to nothing', circular.replace('"#/components/schemas/Node"', '"#/nowhere"'), 'reference'],
    ['an alias that contains itself', 'a: &a [*a]', 'too-deep'],
    ['nesting without end', `{"openapi":"3.0.3","x":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'too-deep'],
    [
      'aliases that multiply',
      `openapi: 3.0.3\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(',')}]`).join('\n')}`,
      'syntax',
    ],
  ])('%s is refused', (_, text, code) => {
    expect(codes(read(text))).toContain(code);
  });

  test('bytes that are no text are refused', () => {
    expect(codes(readSpecification(new Uint8Array([0xff, 0xfe, 0xfd, 0x80])))).toEqual(['encoding']);
  });
});

describe('reading beside the main thread', () => {
  test('several at once, more than there are threads; a late one is refused', async () => {
    const reader = createSpecificationReader({ threads: 1 });
    const readings = await Promise.all([1, 2, 3].map(() => reader.read(bytesOf(circular))));
    expect(readings.map(({ ok }) => ok)).toEqual([true, true, true]);
    await reader.close();
    await expect(reader.read(bytesOf(circular))).rejects.toThrow('closed');
  });

  test('what takes too long ends, and the next one is read', async () => {
    const slow = createSpecificationReader({ timeoutMs: 1 });
    expect(codes(await slow.read(bytesOf(circular)))).toEqual(['time']);
    await slow.close();
  });
});

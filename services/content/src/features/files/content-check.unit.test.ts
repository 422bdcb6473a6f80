import { isProblem } from '@bindery/service-kit';
import { describe, expect, test } from '@jest/globals';
import { checkContent } from './content-check.ts';

/** A 3 x 2 picture. */
const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452000000030000000208060000009d74661a', 'hex'),
  Buffer.alloc(64),
]);
const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b08000500070101110000ffd9', 'hex');
const gif = Buffer.from('47494638396104000500800000000000ffffff21f90401000000002c00000000040005000002', 'hex');

const check = (head: Uint8Array | string, declared: string, strict = true) =>
  checkContent({ head: Buffer.from(head), name: 'f', declared, strict, field: 'files[0]' });
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    if (isProblem(error) && error.kind === 'invalid') {
      expect(error.message).toContain('files[0]');
      return error.code;
    }
    throw error;
  }
  return 'accepted';
};

describe('the content of a file', () => {
  test('pictures get their type and size', async () => {
    expect(await check(png, 'image/png')).toEqual({ contentType: 'image/png', dimensions: { width: 3, height: 2 } });
    expect(await check(gif, 'image/gif')).toEqual({ contentType: 'image/gif', dimensions: { width: 4, height: 5 } });
    expect((await check(jpeg, 'image/jpg')).contentType).toBe('image/jpeg');
  });

  test('text is what it is called', async () => {
    expect(await check('hello', 'text/plain; charset=utf-8')).toEqual({ contentType: 'text/plain' });
    expect(await check('<p>hi</p>', 'text/html')).toEqual({ contentType: 'text/html' });
    expect(await check('a: 1', '')).toEqual({ contentType: 'application/octet-stream' });
  });

  test('a caller that says something else than the bytes is refused, a server is corrected', async () => {
    expect(await codeOf(check(png, 'image/jpeg'))).toBe('file.content_type_mismatch');
    expect(await codeOf(check('<script>alert(1)</script>', 'image/png'))).toBe('file.content_type_mismatch');
    expect(await codeOf(check('not a pdf', 'application/pdf', false))).toBe('file.content_type_mismatch');
    expect((await check(png, 'image/jpeg', false)).contentType).toBe('image/png');
    expect((await check(png, 'text/html', false)).contentType).toBe('image/png');
  });

  test.each(['nonsense', 'text/', '/plain', 'text/plain\r\nset-cookie: a=b', 'a/b/c', 'té/xt'])(
    '%j is not a media type',
    async (declared) => {
      expect(await codeOf(check('x', declared))).toBe('file.invalid_content_type');
    },
  );

  test.each([
    ['image/png', png.subarray(0, 12)],
    ['image/png', png.subarray(0, 4)],
    ['image/jpeg', jpeg.subarray(0, 2)],
    ['image/gif', gif.subarray(0, 2)],
    ['application/pdf', Buffer.from('%PD')],
  ])('a %s that ends early is refused for that', async (declared, bytes) => {
    expect(await codeOf(check(bytes, declared))).toBe('file.truncated');
  });

  test('a picture of a billion pixels is refused by its head', async () => {
    const huge = Buffer.from(png);
    huge.writeUInt32BE(100_000, 16);
    huge.writeUInt32BE(100_000, 20);
    expect(await codeOf(check(huge, 'image/png'))).toBe('file.too_many_pixels');
  });

  test.each([
    ['no head', png.subarray(0, 20)],
    ['only the signature', Buffer.from('89504e470d0a1a0a', 'hex')],
    ['a broken jpeg', Buffer.from('ffd8ffe0ffff', 'hex')],
    ['a zip that ends early', Buffer.from('504b030414000000080000000000', 'hex')],
    ['bytes of all kinds', Buffer.from(Array.from({ length: 256 }, (_, at) => at))],
  ])('%s does not break the check', async (_, bytes) => {
    const { contentType } = await checkContent({ head: bytes, name: 'f', declared: '', strict: false, field: 'f' });
    expect(contentType).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/);
  });
});

describe('svg drawings', () => {
  const drawing = (inside: string, attributes = '') =>
    `<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="7" height="9" ${attributes}>${inside}</svg>`;

  test('a plain one is taken, with its size', async () => {
    const plain = drawing('<style>.a{fill:red}</style><path class="a" d="M0 0h1"/><a href="https://example.org">x</a>');
    expect(await check(plain, 'image/svg+xml')).toEqual({
      contentType: 'image/svg+xml',
      dimensions: { width: 7, height: 9 },
    });
    expect((await check(plain, 'text/plain', false)).contentType).toBe('image/svg+xml');
    expect((await check(`\uFEFF<!-- c -->${drawing('')}`, '', false)).contentType).toBe('image/svg+xml');
  });

  test.each([
    ['a script', drawing('<script>alert(1)</script>')],
    ['a script in another namespace', drawing('<svg:script xmlns:svg="http://www.w3.org/2000/svg">1</svg:script>')],
    ['an event handler', drawing('<path onclick="alert(1)"/>')],
    ['an event handler on the root', drawing('', 'onload="alert(1)"')],
    ['an upper-case handler', drawing('<path ONCLICK="alert(1)"/>')],
    ['a script URL', drawing('<a href="javascript:alert(1)"/>')],
    ['a hidden script URL', drawing('<a xlink:href=" jav&#x09;ascript:alert(1)"/>')],
    ['an animated script URL', drawing('<a><animate attributeName="href" values="#;javascript:alert(1)"/></a>')],
    ['html inside', drawing('<foreignObject><iframe src="https://example.org"/></foreignObject>')],
    ['an entity bomb', `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${drawing('&b;')}`],
  ])('%s is refused', async (_, text) => {
    expect(await codeOf(check(text, 'image/svg+xml'))).toBe('file.active_svg');
  });

  test('a start made to be looked at again and again is looked at once', async () => {
    const started = performance.now();
    for (const part of ['<!---->', '<!-- ', '<?x>', '<!doctype [', '<!doctype a[]>'])
      await check(part.repeat(2000), 'text/plain');
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test('what is called a drawing must be one', async () => {
    expect(await codeOf(check('<html></html>', 'image/svg+xml'))).toBe('file.content_type_mismatch');
    expect(await codeOf(check(drawing(''), 'image/png'))).toBe('file.content_type_mismatch');
  });
});

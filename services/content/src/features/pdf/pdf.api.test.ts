import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { baseUrl, edit, member, openSpace, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const reader = member('read');
let content: TestContent;
let server: Server;
let port: number;
let spaceId: string;
let changeRequestId: string;

beforeAll(async () => {
  content = await startContent();
  server = createServer((request, response) => {
    const route = content.service.rawRoutes.find(({ path }) => path.startsWith('/~pdf/'));
    void route?.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
  spaceId = await openSpace(content, admin, { title: 'Manual' });
  const page = (ref: string, title: string, markdown: string) => ({
    ...{ operation: 'insert_page', ref, title, document: { markdown } },
  });
  changeRequestId = await edit(content, admin, spaceId, [
    page(
      'a',
      'Start',
      'See [the next one](./b.md), [bad](javascript:alert(1)).\n\n* [x] done\n\n| A | Б |\n| --- | --- |\n| 1 | 二 |\n',
    ),
    page('b', 'Next', '> Цитата\n\n```js\nconst x = 1;\n```\n'),
  ]);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await content.stop();
});

const ask = (query: object = {}, as = reader) =>
  content.call('getChangeRequestPDF', as, { params: { spaceId, changeRequestId }, query: { ...query } });
const get = (url: string) => fetch(url.replace(baseUrl, `http://127.0.0.1:${port}`));
const pagesOf = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type \/Page\b(?!s)/g)?.length ?? 0;

describe('the PDF of a change request', () => {
  test('is made at an address that works for an hour; part of it on demand', async () => {
    const { status, body } = await ask();
    expect(status).toBe(200);
    const answer = await get(body.url);
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    expect(answer.headers.get('content-disposition')).toContain('Manual.pdf');
    const pdf = Buffer.from(await answer.arrayBuffer());
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    // Title, contents, and two pages.
    expect(pagesOf(pdf)).toBe(4);
    expect(pdf.toString('latin1')).not.toContain('javascript');
    const again = Buffer.from(await (await get(body.url)).arrayBuffer());
    expect(again.equals(pdf)).toBe(true);

    const { pages } = (
      await content.call('getRevisionOfChangeRequestById', reader, { params: { spaceId, changeRequestId } })
    ).body;
    const one = await ask({ page: pages[1]?.id, only: true });
    const part = Buffer.from(await (await get(one.body.url)).arrayBuffer());
    expect(pagesOf(part)).toBe(1);

    content.ports.clock.advance(3_600_000);
    expect((await get(body.url)).status).toBe(404);
  }, 60_000);

  test('is nobody else’s to ask for, or to make up', async () => {
    expect((await ask({}, member(undefined))).status).toBe(404);
    expect((await ask({ page: 'missing' })).status).toBe(404);
    const { url } = (await ask()).body;
    for (const wrong of [`${url}x`, url.replace('/~pdf/', '/~pdf/x'), `${baseUrl}/~pdf/x.y`])
      expect((await get(wrong)).status).toBe(404);
  });
});

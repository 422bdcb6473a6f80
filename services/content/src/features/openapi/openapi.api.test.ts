import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuardedFetch } from '@bindery/guarded-fetch';
import { manualClock, until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const creator = member('create', 'creator');
const reader = member('read', 'reader');
const stranger = member(undefined, 'stranger');
const org = { organizationId: 'o1' };
const of = (specSlug: string) => ({ ...org, specSlug });
const documentOf = (title: string): string =>
  `openapi: 3.1.0\ninfo: {title: "${title}", version: "1"}\npaths: {}\ncomponents: {schemas: {Node: {properties: {next: {$ref: "#/components/schemas/Node"}}}}}\n`;
const hour = 3_600_000;

describe('OpenAPI specifications', () => {
  let content: TestContent;
  let server: Server;
  let address = '';
  let answer: { status: number; body: string; location?: string } = { status: 200, body: documentOf('One') };
  let asked = 0;
  const clock = manualClock();
  beforeAll(async () => {
    server = createServer((_request, response) => {
      asked += 1;
      response.writeHead(answer.status, answer.location ? { location: answer.location } : {});
      response.end(answer.body);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/spec.yaml`;
    content = await startContent({
      clock,
      fetchGuard: createGuardedFetch({ allow: ['127.0.0.1'] }),
      openapi: { sweepMs: 20, refetchMs: 6 * hour, retryMs: hour },
    });
  });
  afterAll(async () => {
    await content.stop();
    await new Promise((resolve) => server.close(resolve));
  });

  const put = (slug: string, source: object, as = admin) =>
    content.call('createOrUpdateOpenAPISpecBySlug', as, { params: of(slug), body: { source } });
  const done = async (slug: string) => {
    await until('the specification is processed', async () => {
      const { body } = await content.call('getOpenAPISpecBySlug', admin, { params: of(slug) });
      return body.processingState === 'complete';
    });
    return (await content.call('getOpenAPISpecBySlug', admin, { params: of(slug) })).body;
  };
  const versions = async (slug: string) =>
    (await content.call('listOpenAPISpecVersions', admin, { params: of(slug) })).body.items;
  const titleOf = async (slug: string): Promise<unknown> => {
    const { body } = await content.call('getLatestOpenAPISpecVersionContent', reader, { params: of(slug) });
    return JSON.stringify(body).match(/"title":"([^"]+)"/)?.[1];
  };

  test('a document is fetched and read; a version comes of other content only; a failure keeps what was good', async () => {
    const made = await content.call('createOpenAPISpec', creator, {
      params: org,
      body: { slug: 'pets', source: { url: address } },
    });
    expect(made).toMatchObject({ status: 201, body: { processingState: 'pending', visibility: 'private' } });
    const first = await done('pets');
    expect(first.lastVersion).toBeDefined();
    expect(await titleOf('pets')).toBe('One');

    expect((await put('pets', { url: address })).status).toBe(200);
    expect((await done('pets')).lastVersion).toBe(first.lastVersion);

    answer = { status: 200, body: documentOf('Two') };
    await put('pets', { url: address });
    await done('pets');
    expect(await versions('pets')).toHaveLength(2);

    for (const [broken, code] of [
      [{ status: 500, body: '' }, 'FETCH_ERROR'],
      [{ status: 302, body: '', location: 'http://10.0.0.1/' }, 'FETCH_ERROR'],
      [{ status: 200, body: '<html>' }, 'PARSE_ERROR'],
    ] as const) {
      answer = broken;
      await put('pets', { url: address });
      const failed = await done('pets');
      expect(failed.lastProcessErrorCode).toBe(code);
      expect(failed.lastProcessedErrors?.length).toBeGreaterThan(0);
      expect(await titleOf('pets')).toBe('Two');
    }
    expect(await versions('pets')).toHaveLength(2);
  });

  test('an address is looked at again by itself', async () => {
    answer = { status: 200, body: documentOf('Three') };
    await put('pets', { url: address });
    await done('pets');
    answer = { status: 200, body: documentOf('Four') };
    const before = asked;
    clock.advance(7 * hour);
    await until('it was fetched again', () => asked > before);
    await until('the new version is there', async () => (await titleOf('pets')) === 'Four');
  });

  test('text is taken as it is; addresses inside are refused', async () => {
    expect(
      (await put('text', { text: '{"swagger":"2.0","info":{"title":"T","version":"1"},"paths":{}}' })).status,
    ).toBe(201);
    expect(await done('text')).not.toHaveProperty('lastProcessErrorCode');
    const asSeen = content.call('getLatestOpenAPISpecVersion', reader, { params: of('text') });
    expect((await asSeen).status).toBe(200);
    await put('inside', { url: 'http://169.254.169.254/latest' });
    expect((await done('inside')).lastProcessErrorCode).toBe('FETCH_ERROR');
    expect(await versions('inside')).toEqual([]);
    const none = await content.call('getLatestOpenAPISpecVersion', reader, { params: of('inside') });
    expect(none.status).toBe(404);
  });

  test('who may not, may not; a slug is taken once, also by many at once', async () => {
    expect((await put('mine', { text: '{}' }, reader)).status).toBe(403);
    expect((await put('mine', { text: '{}' }, stranger)).status).toBe(404);
    for (const operation of ['getOpenAPISpecBySlug', 'listOpenAPISpecVersions', 'getLatestOpenAPISpecVersion'] as const)
      expect((await content.call(operation, stranger, { params: of('pets') })).status).toBe(404);
    const body = { slug: 'race', source: { text: documentOf('R') } };
    const raced = await Promise.all(
      Array.from({ length: 8 }, () => content.call('createOpenAPISpec', admin, { params: org, body })),
    );
    expect(raced.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const both = await Promise.all([put('race', { text: documentOf('A') }), put('race', { text: documentOf('B') })]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    await done('race');
  });

  test('one is made public, deleted, and gone; what was read is the same after a rebuild', async () => {
    const change = { params: of('text'), body: { visibility: 'public' } };
    expect((await content.call('updateOpenAPISpecBySlug', reader, change)).status).toBe(403);
    expect((await content.call('updateOpenAPISpecBySlug', admin, change)).body.visibility).toBe('public');
    const list = async () => (await content.call('listOpenAPISpecs', reader, { params: org })).body;
    const before = await list();
    await content.service.rebuild();
    expect(await list()).toEqual(before);
    const remove = () => content.call('deleteOpenAPISpecBySlug', admin, { params: of('text') });
    expect([(await remove()).status, (await remove()).status]).toEqual([205, 204]);
    expect((await content.call('getOpenAPISpecBySlug', admin, { params: of('text') })).status).toBe(404);
    expect((await list()).items.map(({ slug }) => slug)).not.toContain('text');
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type OpenAPISpec, OpenAPISpecVisibility } from '@gitbook/api';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, type World } from './world.ts';

const specification = (title: string): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title, version: '1' },
    paths: { '/pets': { get: { responses: { 200: { description: 'Pets' } } } } },
  });

/** OpenAPI specifications, by text and by address. */
export const openapi = (world: () => World): void =>
  describe('OpenAPI specifications', () => {
    let server: Server;
    let served = specification('Served');
    let url = '';
    beforeAll(async () => {
      server = createServer((_request, response) => response.end(served)).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`;
    });
    afterAll(() => {
      server.close();
      server.closeAllConnections();
    });

    const processed = (slug: string): Promise<OpenAPISpec> =>
      eventually('the specification is processed', async () => {
        const { data } = await world().admin.api.orgs.getOpenApiSpecBySlug(world().organization, slug);
        return data.processingState === 'complete' ? data : undefined;
      });
    const titleOf = (content: { readonly filesystem: object }): string | undefined =>
      /"title":"([^"]+)"/.exec(JSON.stringify(content))?.[1];

    test('by address: fetched, shown, a version for each content', async () => {
      const { admin, organization } = world();
      const { orgs } = admin.api;
      const made = await orgs.createOpenApiSpec(organization, { slug: 'pets', source: { url } });
      expect(made.status).toBe(201);
      const first = await processed('pets');
      expect(first).toMatchObject({ sourceURL: url, visibility: 'private', lastProcessedErrorCount: 0 });
      served = specification('Served anew');
      expect((await orgs.createOrUpdateOpenApiSpecBySlug(organization, 'pets', { source: { url } })).status).toBe(200);
      await processed('pets');
      const versions = (await orgs.listOpenApiSpecVersions(organization, 'pets')).data.items;
      expect(versions).toHaveLength(2);
      const latest = (await orgs.getLatestOpenApiSpecVersion(organization, 'pets')).data;
      expect(versions[0]?.id).toBe(latest.id);
      const older = versions[1]?.id ?? '';
      expect((await orgs.getOpenApiSpecVersionById(organization, 'pets', older)).data.id).toBe(first.lastVersion);
      expect(titleOf((await orgs.getLatestOpenApiSpecVersionContent(organization, 'pets')).data)).toBe('Served anew');
      const content = (await orgs.getOpenApiSpecVersionContentById(organization, 'pets', older)).data;
      expect(titleOf(content)).toBe('Served');
      expect(await (await fetch(content.urls.source)).text()).toContain('Served');
    });

    test('by text: put, made public, listed, deleted', async () => {
      const { admin, organization } = world();
      const { orgs } = admin.api;
      const source = { text: specification('Written') };
      expect((await orgs.createOrUpdateOpenApiSpecBySlug(organization, 'written', { source })).status).toBe(201);
      await processed('written');
      const changed = await orgs.updateOpenApiSpecBySlug(organization, 'written', {
        visibility: OpenAPISpecVisibility.Public,
      });
      expect(changed.data.visibility).toBe('public');
      const slugs = async () => (await orgs.listOpenApiSpecs(organization)).data.items.map(({ slug }) => slug).sort();
      expect(await slugs()).toEqual(['pets', 'written']);
      expect((await orgs.deleteOpenApiSpecBySlug(organization, 'written')).status).toBe(205);
      expect((await orgs.deleteOpenApiSpecBySlug(organization, 'written')).status).toBe(204);
      expect(await slugs()).toEqual(['pets']);
      await expect(orgs.getOpenApiSpecBySlug(organization, 'written')).rejects.toMatchObject({ code: 404 });
    });
  });

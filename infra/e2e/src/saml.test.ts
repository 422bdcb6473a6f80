import { rmSync } from 'node:fs';
import { type Running, startProduct } from '@bindery/testing/product';
import { createIdentityProvider, newSigningIdentity, serveIdentityProvider } from '@bindery/testing/saml';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { browserPath, openBrowser, testWithBrowser } from './browser.ts';
import { ok, request } from './support.ts';

interface Provider {
  readonly id: string;
  readonly service: { readonly startURL: string; readonly entityID: string };
}

describe('signing in through SAML, in a real browser', () => {
  let product: Running;
  let browser: Browser;
  let idp: Awaited<ReturnType<typeof serveIdentityProvider>>;
  let email = 'ada@example.org';
  let metadataUrl = '';

  beforeAll(async () => {
    if (browserPath === undefined) return;
    product = await startProduct({ keep: true, env: { SAML_PLAIN_HTTP_HOSTS: '127.0.0.1' } });
    const identity = newSigningIdentity('Browser test');
    // The product is called localhost, and the identity provider 127.0.0.1: two sites, as in life.
    idp = await serveIdentityProvider({
      provider: (ssoURL) => createIdentityProvider({ entityID: 'https://idp.example.org', identity, ssoURL }),
      metadata: async () => (await fetch(metadataUrl)).text(),
      email: () => email,
    });
    browser = await openBrowser();
  });
  afterAll(async () => {
    if (browserPath === undefined) return;
    await browser.close();
    await idp.close();
    await product.stop('SIGKILL');
    rmSync(product.dataDir, { recursive: true, force: true });
  });

  testWithBrowser(
    'a new member gets in from another site; a stranger does not; the session reaches nothing else',
    async () => {
      const organization = await ok<{ id: string }>(product, 'POST', '/v1/orgs', {
        title: 'Single sign-on',
        emailDomains: ['example.org'],
      });
      const { entityID, ssoURL, certificate } = idp.provider;
      const body = { label: 'Company', entityID, ssoURL, certificate, defaultRole: 'edit' };
      const provider = await ok<Provider>(product, 'POST', `/v1/orgs/${organization.id}/saml`, body);
      metadataUrl = provider.service.entityID;
      const logins = await ok<{ items: unknown[] }>(product, 'GET', `/v1/orgs/${organization.id}/sso`);
      expect(logins.items).toEqual([{ id: provider.id, label: 'Company', startURL: provider.service.startURL }]);

      const site = new URL(provider.service.startURL).origin;
      expect(new URL(ssoURL).hostname).not.toBe(new URL(site).hostname);
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${provider.service.startURL}?returnTo=%2Fhealthz`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`${site}/healthz`);
      const cookies = await context.cookies(site);
      expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
        { name: 'bindery_session', httpOnly: true, sameSite: 'Lax' },
      ]);
      const answers = await page.evaluate(async (): Promise<unknown[]> => {
        const read = async (path: string): Promise<unknown> => (await fetch(path)).json();
        return [await read('/v1/user'), await read('/v1/orgs')];
      });
      expect(answers).toMatchObject([{ email: 'ada@example.org' }, { items: [{ id: organization.id }] }]);
      const member = await ok<{ items: { sso: boolean; role: string }[] }>(
        product,
        'GET',
        `/v1/orgs/${organization.id}/members?search=ada`,
      );
      expect(member.items).toMatchObject([{ sso: true, role: 'edit' }]);
      await page.goto(`${site}/account`);
      expect(await page.getByText('ada@example.org').count()).toBeGreaterThan(0);

      email = 'eve@elsewhere.example';
      const other = await browser.newContext();
      const stranger = await other.newPage();
      await stranger.goto(provider.service.startURL);
      await stranger.getByRole('button', { name: 'Sign in' }).click();
      await stranger.getByText('Signing in did not work.').waitFor();
      expect(await other.cookies(site)).toMatchObject([{ name: 'bindery_saml' }]);
      const refused = await request(product, 'GET', `/v1/orgs/${organization.id}/saml/${provider.id}`);
      expect(refused.status).toBe(200);
    },
  );
});

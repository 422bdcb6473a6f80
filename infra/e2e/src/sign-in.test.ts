import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Running, startProduct } from '@bindery/testing/product';
import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { browserPath, openBrowser, testWithBrowser } from './browser.ts';
import { startOpenIdProvider } from './openid-provider.ts';
import { ok, request } from './support.ts';

const password = 'a fine long password';

describe('signing in, in a real browser', () => {
  let product: Running;
  let browser: Browser;
  let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;
  /** What was started, in order: also ended when the rest does not start, so that nothing keeps the tests from ending. */
  const started: (() => Promise<void>)[] = [];
  let local = '';
  /** What the browser complained about: refused styles, scripts, frames. */
  const complaints: string[] = [];
  /** Everything secret that went through. */
  const secrets = new Set([password, 'not the password']);

  beforeAll(async () => {
    if (browserPath === undefined) return;
    // The provider says on the console that its defaults are for development, which is what they are used for.
    jest.spyOn(console, 'info').mockReturnValue();
    jest.spyOn(console, 'warn').mockReturnValue();
    provider = await startOpenIdProvider();
    started.push(() => provider.close());
    product = await startProduct({
      keep: true,
      env: {
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.client.id,
        OIDC_CLIENT_SECRET: provider.client.secret,
        OIDC_CREATE_USERS: 'true',
      },
    });
    started.push(async () => {
      await product.stop('SIGKILL');
      rmSync(product.dataDir, { recursive: true, force: true });
    });
    local = product.url.replace('127.0.0.1', 'localhost');
    provider.serve(`${local}/sign-in/oidc/callback`);
    browser = await openBrowser();
    started.push(() => browser.close());
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    for (const end of started.reverse()) await end();
  });

  const open = async (): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await browser.newContext();
    const page = await context.newPage();
    page.on('console', (message) => {
      // The provider's own pages want fonts from far away.
      if (message.type() === 'error' && page.url().startsWith(local)) complaints.push(message.text());
    });
    return { context, page };
  };
  /** A picture of a page, where SCREENSHOTS names a folder. */
  const picture = async (page: Page, name: string): Promise<void> => {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };

  testWithBrowser('a one-time link, a password, a token with a scope, a stranger, and signing out', async () => {
    const user = await ok<{ id: string }>(product, 'POST', '/admin/v1/users', {
      email: 'reader@example.org',
      displayName: 'A <b>Reader</b>',
    });
    const link = await ok<{ url: string }>(product, 'POST', `/admin/v1/users/${user.id}/sign-in-links`);
    const { context, page } = await open();
    await page.goto(link.url);
    await page.getByLabel('New password').fill('password1');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('most common');
    await picture(page, 'link');
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${local}/account`);
    expect(await page.getByText('A <b>Reader</b>').count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out' }).first().click();
    await page.waitForURL(`${local}/sign-in`);
    await picture(page, 'sign-in');

    await page.goto(`${local}/account`);
    await page.waitForURL(/\/sign-in\?return_to=%2Faccount$/);
    await page.getByLabel('Email').fill('reader@example.org');
    await page.getByLabel('Password').fill('not the password');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('alert').textContent()).toBe('Email or password is wrong.');
    await picture(page, 'refused');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`${local}/account`);

    await page.getByLabel('Name of a new token').fill('Reading script');
    await page.getByLabel('user:read').check();
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = (await page.locator('#new-token').textContent()) ?? '';
    await picture(page, 'account');
    const script = { url: product.url, token };
    expect((await request(script, 'GET', '/v1/user')).status).toBe(200);
    const refused = await request(script, 'GET', '/v1/orgs');
    expect(refused.status).toBe(403);
    expect(refused.body).toEqual({ error: { code: 403, message: 'The token lacks the scope organization:read.' } });
    expect(refused.headers.get('www-authenticate')).toContain('scope="organization:read"');

    // The cookie is out of the reach of scripts, works for the API from here, and not for a page of another site.
    expect(await page.evaluate('document.cookie')).toBe('');
    const fromHere = await page
      .evaluate("fetch('/v1/user').then((answer) => answer.status)")
      .catch(() => 'refused by policy');
    expect(fromHere).toBe('refused by policy');
    const cookies = await context.cookies(local);
    const session = cookies.find(({ name }) => name === 'bindery_session');
    for (const secret of [token, link.url.slice(-43), session?.value ?? '']) secrets.add(secret);
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    await page.goto(provider.issuer);
    await page.setContent(
      `<form method="post" action="${local}/account/tokens"><input name="name" value="stolen"><button>Click</button></form>`,
    );
    await page.getByRole('button', { name: 'Click' }).click();
    await page.waitForURL(`${local}/account/tokens`);
    expect(await page.getByRole('alert').textContent()).toContain('pages of this instance');
    await page.goto(`${local}/account`);
    expect(await page.getByText('stolen').count()).toBe(0);
    await page.getByRole('button', { name: 'Revoke token Reading script' }).click();
    await page.waitForURL(`${local}/account`);
    expect((await request(script, 'GET', '/v1/user')).status).toBe(401);
    await context.close();
  });

  testWithBrowser('through a real OpenID provider: a verified email gets in, another does not', async () => {
    const through = async (name: string): Promise<Page> => {
      const { page } = await open();
      await page.goto(`${local}/sign-in?return_to=%2Faccount`);
      await page.getByRole('link', { name: 'Sign in with your identity provider' }).click();
      await page.locator('input[name=login]').fill(name);
      await page.locator('input[name=password]').fill('anything');
      await page.locator('button[type=submit]').click();
      await page.getByRole('button', { name: 'Continue' }).click();
      return page;
    };
    const page = await through('verified-1');
    await page.waitForURL(`${local}/account`);
    expect(await page.getByText('verified-1@example.org').count()).toBe(1);
    expect(await page.getByText('You have no password.').count()).toBe(1);
    const cookies = (await page.context().cookies(local)).map(({ name }) => name);
    expect(cookies).not.toContain('bindery_oidc');
    const other = await through('somebody');
    await other.waitForURL(/\/sign-in\/oidc\/callback/);
    expect(await other.getByRole('alert').textContent()).toContain('did not work');
    await picture(other, 'oidc-refused');
  });

  testWithBrowser('leaves neither passwords nor secrets on disk', async () => {
    expect(secrets.size).toBeGreaterThan(4);
    const found = readdirSync(product.dataDir, { recursive: true, encoding: 'utf8' })
      .map((name) => join(product.dataDir, name))
      .filter((path) => statSync(path).isFile())
      .flatMap((path) => {
        const bytes = readFileSync(path);
        return [...secrets].filter((secret) => bytes.includes(secret));
      });
    expect(found).toEqual([]);
  });

  testWithBrowser('with nothing that the policy of the pages forbids', () => {
    const expected =
      /the server responded with a status of 4\d\d|Refused to connect|violates the following Content Security Policy directive: "(default-src 'none'|connect-src)/;
    expect(complaints.filter((text) => !expected.test(text))).toEqual([]);
  });
});

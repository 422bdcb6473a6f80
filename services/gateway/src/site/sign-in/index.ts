import { limits } from '@bindery/contracts';
import type { RawRoute } from '@bindery/service-kit';
import { isProblem, readCookie, sessionCookie, setCookie } from '@bindery/service-kit';
import { accountRoutes } from './account.ts';
import { createPageRoute, type Exchange, type PageAnswer, refusalOf, type SiteParts } from './exchange.ts';
import { style, stylePath } from './html.ts';
import { forgotMain, forgottenMain, linkMain, signInMain, ssoMain } from './pages.ts';

/** A path on this instance; nothing that leads elsewhere. */
const localPath = (path: string | null): string | undefined =>
  path !== null && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,2000}$/.test(path) ? path : undefined;

const signInPage = async (
  exchange: Exchange,
  given: Parameters<typeof signInMain>[1],
  status = 200,
): Promise<PageAnswer> => {
  const { body } = await exchange.call('getSignInOptions', {});
  return { title: 'Sign in', main: signInMain(body, given), status };
};

/** The pages for signing in: plain forms, no scripts. */
export const signInRoutes = (parts: SiteParts): readonly RawRoute[] => {
  const route = createPageRoute(parts);
  return [
    {
      method: 'GET',
      path: stylePath,
      async handle(_request, response) {
        response.writeHead(200, {
          'content-type': 'text/css; charset=utf-8',
          'cache-control': 'public, max-age=3600',
          'content-length': Buffer.byteLength(style),
        });
        response.end(style);
      },
    },
    route('GET', '/sign-in', async (exchange) => {
      const returnTo = localPath(exchange.query.get('return_to'));
      if ((await exchange.signedIn()) !== undefined) return { goTo: returnTo ?? '/account' };
      return signInPage(exchange, { returnTo });
    }),
    route('POST', '/sign-in', async (exchange) => {
      const { client, context, request } = exchange;
      const form = await exchange.form();
      const email = form.field('email', 1024);
      const returnTo = localPath(form.field('return_to', 2048));
      const device = readCookie(request.headers.cookie, 'device', context.baseUrl);
      try {
        const password = form.field('password', limits.password.maxLength);
        const body = { email, password, ...client, ...(device === undefined ? {} : { device }) };
        const answer = await exchange.call('signInWithPassword', { body });
        return { goTo: returnTo ?? '/account', cookies: answer.body.cookies };
      } catch (error) {
        if (isProblem(error) && error.kind === 'rate-limited') throw error;
        const { status, message } = refusalOf(error);
        return signInPage(exchange, { error: message, email, returnTo }, status);
      }
    }),
    route('GET', '/sign-in/sso', async () => ({
      title: 'Sign in through your organization',
      main: ssoMain(undefined),
    })),
    route('GET', '/sign-in/forgot', async () => ({ title: 'Get a link', main: forgotMain(undefined) })),
    route('POST', '/sign-in/forgot', async (exchange) => {
      const email = (await exchange.form()).field('email', 1024);
      await exchange.call('requestSignInLink', { body: { email, address: exchange.client.address } });
      return { title: 'Get a link', main: forgottenMain };
    }),
    route('GET', '/sign-in/link/{link}', async () => ({ title: 'Sign in with a link', main: linkMain(undefined) })),
    route('POST', '/sign-in/link/{link}', async (exchange) => {
      const { params, client } = exchange;
      try {
        const password = (await exchange.form()).field('password', limits.password.maxLength);
        const link = (params.link ?? '').slice(0, 256);
        const body = { link, ...client, ...(password === '' ? {} : { password }) };
        return { goTo: '/account', cookies: (await exchange.call('useSignInLink', { body })).body.cookies };
      } catch (error) {
        if (!isProblem(error) || error.kind !== 'invalid') throw error;
        return { title: 'Sign in with a link', main: linkMain(error.message), status: 400 };
      }
    }),
    route('GET', '/sign-in/oidc', async (exchange) => {
      const returnTo = localPath(exchange.query.get('return_to'));
      const body = { address: exchange.client.address, ...(returnTo === undefined ? {} : { returnTo }) };
      const answer = await exchange.call('beginOidcSignIn', { body });
      return { goTo: answer.body.url, cookies: answer.body.cookies };
    }),
    route('GET', '/sign-in/oidc/callback', async ({ call, client, context, rawQuery, request }) => {
      const flow = readCookie(request.headers.cookie, 'oidc', context.baseUrl) ?? '';
      const answer = await call('finishOidcSignIn', { body: { query: rawQuery, flow, ...client } });
      return { goTo: answer.body.returnTo, cookies: answer.body.cookies };
    }),
    route('POST', '/sign-out', async (exchange) => {
      const principal = await exchange.signedIn();
      if (principal !== undefined) {
        const params = { sessionId: principal.tokenId };
        await exchange.call('deleteSessionForAuthenticatedUser', { params }, principal);
      }
      return { goTo: '/sign-in', cookies: [setCookie(sessionCookie, '', exchange.context.baseUrl, 0)] };
    }),
    ...accountRoutes(route),
  ];
};

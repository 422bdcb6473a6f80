import { limits, oauthScopes } from '@bindery/contracts';
import type { RawRoute } from '@bindery/service-kit';
import { invalid, type Principal } from '@bindery/service-kit';
import { type Account, accountMain } from './account-page.ts';
import { type createPageRoute, type Exchange, type PageAnswer, refusalOf } from './exchange.ts';

type More = Pick<Account, 'error' | 'notice' | 'secret'>;

const shown = 100;
const dayMs = 86_400_000;

const accountPage = async (
  exchange: Exchange,
  principal: Principal,
  more: More = {},
  status = 200,
): Promise<PageAnswer> => {
  const [user, options, tokens, sessions] = await Promise.all([
    exchange.call('getAuthenticatedUser', {}, principal),
    exchange.call('getSignInOptions', {}, principal),
    exchange.call('listTokensForAuthenticatedUser', { query: { limit: shown } }, principal),
    exchange.call('listSessionsForAuthenticatedUser', { query: { limit: shown } }, principal),
  ]);
  const main = accountMain({
    displayName: user.body.displayName,
    email: user.body.email,
    hasPassword: options.body.password,
    mail: options.body.mail,
    tokens: tokens.body.items,
    sessions: sessions.body.items,
    ...more,
  });
  return { title: 'Your account', main, status };
};

/** /account and what its forms do. */
export const accountRoutes = (route: ReturnType<typeof createPageRoute>): readonly RawRoute[] => {
  /** A page for somebody who is signed in; others go there first. A refusal is shown on the page. */
  const forUser = (
    method: 'GET' | 'POST',
    path: string,
    answer: (exchange: Exchange, principal: Principal) => Promise<PageAnswer>,
  ): RawRoute =>
    route(method, path, async (exchange) => {
      const principal = await exchange.signedIn();
      if (principal === undefined) return { goTo: '/sign-in?return_to=%2Faccount' };
      try {
        return await answer(exchange, principal);
      } catch (error) {
        const { status, message } = refusalOf(error);
        return accountPage(exchange, principal, { error: message }, status);
      }
    });

  return [
    forUser('GET', '/account', (exchange, principal) => accountPage(exchange, principal)),
    forUser('POST', '/account/tokens', async (exchange, principal) => {
      const form = await exchange.form();
      const name = form.field('name', limits.token.name).trim();
      if (name === '') throw invalid('token.name', 'name: is required');
      const days = form.field('days', 4);
      if (!/^\d{0,4}$/.test(days)) throw invalid('token.days', 'days: must be a number');
      const expiresAt = new Date(exchange.context.now.getTime() + Number(days) * dayMs).toISOString();
      const chosen = form.all('scope');
      const scopes = oauthScopes.filter((scope) => chosen.includes(scope));
      if (chosen.length !== scopes.length) throw invalid('token.scope', 'scope: must be known scopes, each once');
      const body = { name, ...(days === '' ? {} : { expiresAt }), ...(scopes.length === 0 ? {} : { scopes }) };
      const created = await exchange.call('createTokenForAuthenticatedUser', { body }, principal);
      return accountPage(exchange, principal, { secret: created.body.token });
    }),
    forUser('POST', '/account/tokens/revoke', async (exchange, principal) => {
      const tokenId = idOf((await exchange.form()).field('id', limits.id.maxLength));
      await exchange.call('deleteTokenForAuthenticatedUser', { params: { tokenId } }, principal);
      return { goTo: '/account' };
    }),
    forUser('POST', '/account/sessions/end', async (exchange, principal) => {
      const sessionId = idOf((await exchange.form()).field('id', limits.id.maxLength));
      await exchange.call('deleteSessionForAuthenticatedUser', { params: { sessionId } }, principal);
      return { goTo: '/account' };
    }),
    forUser('POST', '/account/password', async (exchange, principal) => {
      const form = await exchange.form();
      const { maxLength } = limits.password;
      const body = {
        currentPassword: form.field('current', maxLength),
        newPassword: form.field('new', maxLength),
        ...exchange.client,
      };
      const { cookies } = (await exchange.call('changePassword', { body }, principal)).body;
      return { goTo: '/account', cookies };
    }),
  ];
};

const acceptableId = new RegExp(limits.id.pattern);

const idOf = (text: string): string => {
  if (!acceptableId.test(text)) throw invalid('form.id', 'id: is not an id');
  return text;
};

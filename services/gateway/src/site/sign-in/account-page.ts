import { limits, oauthScopes } from '@bindery/contracts';
import { type Html, html } from './html.ts';

/** What of a token the page shows. */
export interface ShownToken {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly lastUsedAt?: string;
  readonly scopes?: readonly string[];
}

/** What of a session the page shows. */
export interface ShownSession {
  readonly id: string;
  readonly method: string;
  readonly createdAt: string;
  readonly lastUsedAt?: string;
  readonly address?: string;
  readonly userAgent?: string;
  readonly current: boolean;
}

/** All that /account shows. */
export interface Account {
  readonly displayName: string;
  readonly email: string | undefined;
  readonly hasPassword: boolean;
  readonly mail: boolean;
  readonly tokens: readonly ShownToken[];
  readonly sessions: readonly ShownSession[];
  readonly error?: string | undefined;
  readonly notice?: string | undefined;
  /** The secret of a token just made. */
  readonly secret?: string | undefined;
}

const day = (iso: string | undefined, otherwise: string): Html =>
  iso === undefined
    ? html`${otherwise}`
    : html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;

const removal = (path: string, id: string, what: string, verb: string): Html => html`
<form method="post" action="${path}"><input type="hidden" name="id" value="${id}"><button class="quiet" type="submit" aria-label="${verb} ${what}">${verb}</button></form>`;

const tokenRow = (token: ShownToken): Html => html`
<tr><td>${token.name}<br><span class="soft">${token.scopes?.join(', ') ?? 'everything you may do'}</span></td>
<td>${day(token.createdAt, '')}</td><td>${day(token.lastUsedAt, 'never')}</td><td>${day(token.expiresAt, 'never')}</td>
<td>${removal('/account/tokens/revoke', token.id, `token ${token.name}`, 'Revoke')}</td></tr>`;

const sessionRow = (session: ShownSession): Html => html`
<tr><td>${session.userAgent ?? 'Unknown browser'}<br><span class="soft">${session.address ?? ''} · ${session.method}${session.current ? ' · this browser' : ''}</span></td>
<td>${day(session.createdAt, '')}</td><td>${day(session.lastUsedAt, 'just now')}</td>
<td>${removal('/account/sessions/end', session.id, 'session', session.current ? 'Sign out' : 'End')}</td></tr>`;

const passwordSection = ({ hasPassword, mail }: Account): Html => {
  if (!hasPassword)
    return html`<p>You have no password. ${mail ? html`<a href="/sign-in/forgot">Get a link by mail</a> to choose one.` : 'An administrator can make a link for you to choose one.'}</p>`;
  const { minLength, maxLength } = limits.password;
  return html`<form method="post" action="/account/password">
<label for="current">Current password</label>
<input id="current" name="current" type="password" autocomplete="current-password" maxlength="${maxLength}" required>
<label for="new">New password</label>
<input id="new" name="new" type="password" autocomplete="new-password" minlength="${minLength}" maxlength="${maxLength}" aria-describedby="new-hint" required>
<p class="hint" id="new-hint">At least ${minLength} characters. All other browsers are signed out.</p>
<button type="submit">Change password</button>
</form>`;
};

/** /account */
export const accountMain = (account: Account): Html => html`
${account.error === undefined ? undefined : html`<p class="alert" role="alert">${account.error}</p>`}
${account.notice === undefined ? undefined : html`<p class="notice" role="status">${account.notice}</p>`}
${account.secret === undefined ? undefined : html`<p class="notice" role="status">Your new token, shown only now:<br><code id="new-token">${account.secret}</code></p>`}
<div class="row"><p>Signed in as <strong>${account.displayName}</strong>${account.email === undefined ? '' : ` (${account.email})`}</p>
<form method="post" action="/sign-out"><button class="quiet" type="submit">Sign out</button></form></div>
<h2 id="tokens">Access tokens</h2>
<table aria-labelledby="tokens"><thead><tr><th scope="col">Token</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col">Expires</th><th scope="col"></th></tr></thead>
<tbody>${account.tokens.map(tokenRow)}</tbody></table>
<form method="post" action="/account/tokens">
<label for="name">Name of a new token</label>
<input id="name" name="name" maxlength="${limits.token.name}" required>
<label for="days">Expires</label>
<select id="days" name="days"><option value="30">in 30 days</option><option value="90">in 90 days</option><option value="365">in a year</option><option value="">never</option></select>
<fieldset><legend>Limited to</legend>
<p class="hint">Without a choice the token may do everything that you may do.</p>
${oauthScopes.map((scope) => html`<label><input type="checkbox" name="scope" value="${scope}"> ${scope}</label>`)}
</fieldset>
<button type="submit">Create token</button>
</form>
<h2 id="sessions">Browsers</h2>
<table aria-labelledby="sessions"><thead><tr><th scope="col">Browser</th><th scope="col">Signed in</th><th scope="col">Last used</th><th scope="col"></th></tr></thead>
<tbody>${account.sessions.map(sessionRow)}</tbody></table>
<h2>Password</h2>
${passwordSection(account)}`;

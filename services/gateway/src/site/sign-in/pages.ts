import { limits } from '@bindery/contracts';
import { type Html, html } from './html.ts';

const { minLength, maxLength } = limits.password;

const alert = (message: string | undefined): Html =>
  message === undefined ? html`` : html`<p class="alert" role="alert">${message}</p>`;

const newPasswordField = (required: boolean): Html => html`
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${minLength}" maxlength="${maxLength}" aria-describedby="password-hint"${required ? html` required` : html``}>
<p class="hint" id="password-hint">At least ${minLength} characters; not one of the most common ones.</p>`;

const emailField = (value = ''): Html => html`
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${limits.user.email}" value="${value}" required autofocus>`;

/** What the sign-in page offers. */
export interface SignInOptions {
  readonly oidc: boolean;
  readonly mail: boolean;
}

const withReturn = (path: string, returnTo: string | undefined): string =>
  returnTo === undefined ? path : `${path}?return_to=${encodeURIComponent(returnTo)}`;

/** /sign-in */
export const signInMain = (
  options: SignInOptions,
  given: { readonly error?: string | undefined; readonly email?: string; readonly returnTo?: string | undefined },
): Html => html`
${alert(given.error)}
<form method="post" action="/sign-in">
${emailField(given.email)}
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="${maxLength}" required>
<input type="hidden" name="return_to" value="${given.returnTo ?? ''}">
<button type="submit">Sign in</button>
</form>
${options.oidc ? html`<a class="button quiet" href="${withReturn('/sign-in/oidc', given.returnTo)}">Sign in with your identity provider</a>` : undefined}
<p class="soft"><a href="/sign-in/sso">Sign in through your organization</a></p>
${options.mail ? html`<p class="soft"><a href="/sign-in/forgot">No password, or forgot it?</a></p>` : undefined}`;

/** /sign-in/sso */
export const ssoMain = (error: string | undefined): Html => html`
${alert(error)}
<p>Open the sign-in address that your organization's administrator gave you: each identity provider of an organization has its own.</p>
<p class="soft"><a href="/sign-in">Other ways to sign in</a></p>`;

/** /sign-in/forgot */
export const forgotMain = (error: string | undefined): Html => html`
${alert(error)}
<p>We send you a link that signs you in once. There you may choose a password.</p>
<form method="post" action="/sign-in/forgot">
${emailField()}
<button type="submit">Send me a link</button>
</form>
<p class="soft"><a href="/sign-in">Back</a></p>`;

/** What /sign-in/forgot answers, whoever asks. */
export const forgottenMain: Html = html`
<p role="status">If an account has this email, a link is on its way to it. It works for an hour.</p>
<p class="soft"><a href="/sign-in">Back</a></p>`;

/** /sign-in/link/{link}; opening it uses nothing up, since programs look at links in mails. */
export const linkMain = (error: string | undefined): Html => html`
${alert(error)}
<form method="post">
<p>This link signs you in once. Choose a password to sign in by yourself from now on, or leave the field empty to keep what you have.</p>
${newPasswordField(false)}
<button type="submit">Sign in</button>
</form>`;

/** Whatever did not work, with a way on. */
export const failedMain = (message: string): Html => html`
${alert(message)}
<p><a href="/sign-in">Sign in</a></p>`;

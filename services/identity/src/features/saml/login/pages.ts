import type { ServerResponse } from 'node:http';

const headers = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** The one page that everybody gets whose sign-in was refused, whatever the reason; `id` finds it in the log. */
export const sendRefused = (
  response: ServerResponse,
  status: number,
  id: string,
  more: Record<string, string> = {},
) => {
  const text = status === 429 ? 'Too many attempts. Wait a minute and start again.' : 'Signing in did not work.';
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign-in</title></head>
<body><main><h1>Sign-in</h1><p>${text}</p>
<p>Start again from the address that your organization gave you. If it keeps failing, give this reference to an administrator of your organization: <code>${id.replaceAll(/[^A-Za-z0-9._-]/g, '')}</code></p></main></body></html>
`;
  response.writeHead(status, { ...headers, ...more, 'content-type': 'text/html; charset=utf-8' });
  response.end(body);
};

/** Sends a browser on. */
export const sendRedirect = (
  response: ServerResponse,
  status: 302 | 303,
  location: string,
  cookies: readonly string[] = [],
): void => {
  response.writeHead(status, { ...headers, location, ...(cookies.length > 0 ? { 'set-cookie': [...cookies] } : {}) });
  response.end();
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** What an identity provider is told about us (SAML metadata). */
export const metadataOf = ({ entityID, acsURL }: { readonly entityID: string; readonly acsURL: string }): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escaped(entityID)}">
  <md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</md:NameIDFormat>
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escaped(acsURL)}" index="0" isDefault="true"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`;

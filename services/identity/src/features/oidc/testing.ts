import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** What a provider puts into an ID token. */
export interface Minting {
  readonly payload: JWTPayload;
  readonly nonce: string;
  /** Signs with the provider's key as it should be. */
  sign(payload: JWTPayload, header?: { readonly alg?: string; readonly kid?: string }): Promise<string>;
}

/** An OpenID provider that answers what a test wants: also what no good provider answers. */
export const startBadProvider = async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const stranger = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'RS256', use: 'sig' };
  const codes = new Map<string, { readonly nonce: string; readonly challenge: string }>();
  let issuer = '';
  let hang = false;
  let mint = async ({ payload, sign }: Minting): Promise<string> => sign(payload);
  let discovery: Record<string, unknown> = {};

  const answerToken = async (form: URLSearchParams): Promise<[number, unknown]> => {
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code === undefined || code.challenge !== challenge) return [400, { error: 'invalid_grant' }];
    const now = Math.floor(Date.now() / 1000);
    const payload = {
      iss: issuer,
      // Somebody new every time, whom nothing but the token itself keeps out.
      sub: crypto.randomUUID(),
      aud: 'bindery',
      iat: now,
      exp: now + 300,
      nonce: code.nonce,
      email: `${crypto.randomUUID()}@example.org`,
      email_verified: true,
    };
    const sign: Minting['sign'] = (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'key-1', ...header }).sign(privateKey);
    const id_token = await mint({ payload, nonce: code.nonce, sign });
    return [200, { access_token: 'access', token_type: 'bearer', id_token }];
  };

  const server = createServer(async (request, response) => {
    if (hang) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const answers: Record<string, () => Promise<[number, unknown]>> = {
      '/.well-known/openid-configuration': async () => [
        200,
        {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
          ...discovery,
        },
      ],
      '/jwks': async () => [200, { keys: [jwk] }],
      '/token': () => answerToken(new URLSearchParams(Buffer.concat(chunks).toString())),
    };
    const [status, body] = (await answers[request.url ?? '']?.()) ?? [404, {}];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  issuer = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;

  return {
    issuer,
    publicKey,
    stranger: stranger.privateKey,
    /** The browser's way through the provider: signs in at once. @returns the query of the callback */
    authorize(url: string): string {
      const { searchParams } = new URL(url);
      const code = crypto.randomUUID();
      codes.set(code, {
        nonce: searchParams.get('nonce') ?? '',
        challenge: searchParams.get('code_challenge') ?? '',
      });
      return new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: issuer }).toString();
    },
    minting(next: (minting: Minting) => Promise<string>): void {
      mint = next;
    },
    discovering(next: Record<string, unknown>): void {
      discovery = next;
    },
    hanging(next: boolean): void {
      hang = next;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

import { createServer } from 'node:http';
import Provider from 'oidc-provider';

/** A real OpenID provider whose sign-in page takes any name: `verified-...` has a verified email, others do not. */
export const startOpenIdProvider = async () => {
  let listener: ReturnType<Provider['callback']> | undefined;
  const server = createServer((request, response) => {
    if (listener === undefined) response.writeHead(503).end();
    else listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const issuer = `http://localhost:${typeof address === 'object' && address ? address.port : 0}`;
  return {
    issuer,
    client: { id: 'bindery', secret: 'a-secret-of-the-client' },
    /** Begins to serve: where it sends browsers back to must be known. */
    serve(redirectUri: string): void {
      const provider = new Provider(issuer, {
        clients: [{ client_id: 'bindery', client_secret: 'a-secret-of-the-client', redirect_uris: [redirectUri] }],
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
        cookies: { keys: ['a key of this test'] },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: () => ({
            sub: id,
            name: `Person ${id}`,
            email: `${id}@example.org`,
            email_verified: id.startsWith('verified'),
          }),
        }),
      });
      listener = provider.callback();
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

import { connect, createServer, type Socket } from 'node:net';

/** An address in front of several others. */
export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/** Gives each new connection to the next of the addresses, passing over those that refuse, as a load balancer of a cluster does. */
export const startBalancer = async (targets: () => readonly string[]): Promise<Balancer> => {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    open.add(client);
    client.once('close', () => open.delete(client));
    const round = targets();
    turn += 1;
    const join = (tries: number): void => {
      const { hostname, port } = new URL(round[(turn + tries) % round.length] ?? '');
      const upstream = connect(Number(port), hostname);
      const refused = (): void => {
        if (tries + 1 < round.length && !client.destroyed) join(tries + 1);
        else client.destroy();
      };
      upstream.once('error', refused);
      upstream.once('connect', () => {
        upstream.off('error', refused);
        open.add(upstream);
        upstream.once('close', () => {
          open.delete(upstream);
          client.destroy();
        });
        upstream.on('error', () => client.resetAndDestroy());
        client.once('close', () => upstream.destroy());
        client.pipe(upstream).pipe(client);
      });
    };
    client.on('error', () => client.destroy());
    join(0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref(); // a test that is over does not wait for it
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
};

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { describeMailConformance } from '@bindery/testing/mail';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { MailUnavailable } from '../port.ts';
import { createSmtpMailer } from './smtp.ts';

const from = 'Bindery <bindery@example.org>';
const message = { id: 'm1', to: 'ann@example.org', subject: 'Hello', text: 'text' };

/** A mail server on a free port, which keeps what it gets. */
const startServer = async (options: SMTPServerOptions = {}) => {
  const arrived: Buffer[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    ...options,
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        arrived.push(Buffer.concat(chunks));
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { arrived, stop, url: `smtp://127.0.0.1:${portOf(server.server)}` };
};

const portOf = (server: Pick<Server, 'address'>): number => {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

describeMailConformance('smtp', {
  async createPlace() {
    const server = await startServer();
    const mailer = createSmtpMailer({ url: server.url, from, timeoutMs: 5000 });
    return {
      mailer,
      arrived: async () => server.arrived,
      breakIt: server.stop,
      dispose: () => mailer.close(),
    };
  },
});

describe('a server that does not take a mail', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  const outcome = async (options: SMTPServerOptions, credentials = '') => {
    const server = await startServer(options);
    ends.push(server.stop);
    const url = server.url.replace('//', `//${credentials}`);
    const mailer = createSmtpMailer({ url, from, timeoutMs: 2000 });
    return mailer.send(message).catch((error: unknown) => error);
  };
  const reply = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code });

  test('for good because of the receiver: it is refused', async () => {
    expect(await outcome({ onRcptTo: (_to, _session, done) => done(reply(550, 'no ann@example.org here')) })).toBe(
      'refused',
    );
  });
  test.each([
    ['for now', { onRcptTo: (_to, _session, done) => done(reply(451, 'ann@example.org later')) }],
    ['because of the sender', { onMailFrom: (_from, _session, done) => done(reply(550, 'who is that')) }],
    ['because it wants a login', { onRcptTo: (_to, _session, done) => done(reply(530, 'log in first')) }],
  ] satisfies [string, SMTPServerOptions][])('%s: another time, and nobody is named', async (_name, options) => {
    const error = await outcome(options);
    expect(error).toBeInstanceOf(MailUnavailable);
    expect(String(error)).not.toContain('ann');
  });
  test('because the password is wrong: another time, and the password is nowhere', async () => {
    const error = await outcome({ onAuth: (_auth, _session, done) => done(reply(535, 'bad s3cret')) }, 'me:s3cret@');
    expect(error).toBeInstanceOf(MailUnavailable);
    expect(JSON.stringify([String(error), Object(error).stack, Object(error).cause])).not.toContain('s3cret');
  });

  test('because it is silent: the time is bounded, and shorter when the caller says so', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const url = `smtp://127.0.0.1:${portOf(silent)}`;
    const started = performance.now();
    const slow = createSmtpMailer({ url, from, timeoutMs: 300 });
    await expect(slow.send(message)).rejects.toBeInstanceOf(MailUnavailable);
    const patient = createSmtpMailer({ url, from, timeoutMs: 60_000 });
    await expect(patient.send(message, AbortSignal.timeout(100))).rejects.toBeInstanceOf(MailUnavailable);
    expect(performance.now() - started).toBeLessThan(5000);
    await patient.close();
  });
});

test.each(['http://example.org', 'smtp:', 'example.org:25', 'smtp://%zz:a@example.org', ''])(
  'no server is %p',
  (url) => {
    expect(() => createSmtpMailer({ url, from })).toThrow(RangeError);
  },
);

test('a sender is an address, with or without a name', () => {
  for (const wrong of ['', 'Bindery', 'a@b, c@d', 'A <a@b> <c@d>', 'x\r\nBcc: e@e <a@b>'])
    expect(() => createSmtpMailer({ url: 'smtp://localhost', from: wrong })).toThrow(RangeError);
});

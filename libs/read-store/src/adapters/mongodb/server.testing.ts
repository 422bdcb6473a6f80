import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { BSON } from 'mongodb';

/** A command as it was sent, with the documents that went beside it. */
export type Command = Readonly<Record<string, unknown>>;
/** Answers a command; undefined: as a server that is well and has nothing. `cut`: the connection ends instead. */
export type Answer = (name: string, command: Command) => Command | 'cut' | undefined;

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER = 16;

/** A member of a replica set, the primary. */
export const primary: Command = { setName: 'rs0', setVersion: 1, ismaster: true, secondary: false };
/** One that is not. */
export const secondary: Command = { setName: 'rs0', setVersion: 1, ismaster: false, secondary: true };

/** A server that speaks the protocol, says what it is told to say, and keeps nothing: for what no real one does on demand. */
export const startSpeaker = async (self: Command, answer: Answer = () => undefined) => {
  const commands: Command[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= received.readInt32LE(0)) {
        const message = received.subarray(0, received.readInt32LE(0));
        received = received.subarray(message.length);
        const asked = commandOf(message);
        const told = answerTo(asked);
        if (told === 'cut') socket.destroy();
        else socket.write(framed(message, told));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address === null || typeof address === 'string' ? 0 : address.port;
  const me = `127.0.0.1:${port}`;

  const answerTo = (command: Command): Command | 'cut' => {
    const name = Object.keys(command)[0] ?? '';
    if (/^(hello|ismaster)$/i.test(name)) return hello();
    commands.push(command);
    return answer(name, command) ?? defaults(name);
  };
  const hello = (): Command => ({
    ...self,
    ...('setName' in self ? { hosts: [me], me, ...(self.ismaster === true ? { primary: me } : {}) } : {}),
    ...{ minWireVersion: 0, maxWireVersion: 25, maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000 },
    ...{ maxWriteBatchSize: 100_000, logicalSessionTimeoutMinutes: 30, ok: 1 },
  });

  return {
    url: `mongodb://${me}/`,
    commands,
    sent: (name: string): readonly Command[] => commands.filter((command) => Object.keys(command)[0] === name),
    close: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

const defaults = (name: string): Command => {
  if (/^(find|listIndexes|aggregate)$/.test(name))
    return { cursor: { id: BSON.Long.ZERO, ns: 'a.b', firstBatch: [] }, ok: 1 };
  return { n: 1, nModified: 1, ok: 1 };
};

const commandOf = (message: Buffer): Command => {
  if (message.readInt32LE(12) === OP_QUERY) {
    const end = message.indexOf(0, HEADER + 4);
    return BSON.deserialize(message.subarray(end + 9));
  }
  let command: Record<string, unknown> = {};
  for (let at = HEADER + 4; at < message.length; ) {
    const kind = message[at];
    const size = message.readInt32LE(at + 1);
    const section = message.subarray(at + 1, at + 1 + size);
    if (kind === 0) command = { ...BSON.deserialize(section), ...command };
    else {
      const end = section.indexOf(0, 4);
      const documents: unknown[] = [];
      for (let from = end + 1; from < section.length; from += section.readInt32LE(from))
        documents.push(BSON.deserialize(section.subarray(from, from + section.readInt32LE(from))));
      command = { ...command, [section.toString('utf8', 4, end)]: documents };
    }
    at += 1 + size;
  }
  return command;
};

const framed = (asked: Buffer, answer: Command): Buffer => {
  const document = Buffer.from(BSON.serialize(answer));
  const old = asked.readInt32LE(12) === OP_QUERY;
  const before = Buffer.alloc(HEADER + (old ? 20 : 5));
  before.writeInt32LE(before.length + document.length, 0);
  before.writeInt32LE(asked.readInt32LE(4), 8);
  before.writeInt32LE(old ? OP_REPLY : OP_MSG, 12);
  if (old) before.writeInt32LE(1, HEADER + 16);
  return Buffer.concat([before, document]);
};

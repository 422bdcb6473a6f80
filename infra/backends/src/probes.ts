import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { HOST } from './ports.ts';

/** A probe that hears nothing for so long has failed, in ms. */
const ANSWER_MS = 1_000;

/** Sends bytes, and gives what came back when there is enough of it. @throws Error on silence, refusal or an early end */
const ask = async (port: number, request: Uint8Array, enough: (answer: Buffer) => boolean): Promise<Buffer> => {
  const socket = connect({ host: HOST, port });
  try {
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error(`port ${port} is silent`)));
    await once(socket, 'connect');
    socket.write(request);
    let answer: Buffer = Buffer.alloc(0);
    for await (const chunk of socket) {
      answer = Buffer.concat([answer, chunk as Buffer]);
      if (enough(answer)) return answer;
    }
    throw new Error(`port ${port} ended the connection`);
  } finally {
    socket.destroy();
  }
};

/** Redis: PING is answered by PONG (by an error while it loads its file). */
export const redisAnswers = async (port: number): Promise<boolean> => {
  const answer = await ask(port, Buffer.from('PING\r\n'), (bytes) => bytes.includes('\r\n'));
  return answer.toString('latin1').startsWith('+PONG');
};

/** A Metadata request (version 1, no topics) without its length: key 3, version 1, correlation 1, client id, empty list. */
export const kafkaMetadataRequest = (): Buffer => {
  const client = Buffer.from('bindery-probe');
  const body = Buffer.alloc(4 + 2 + 2 + 4 + 2 + client.length + 4);
  body.writeInt32BE(body.length - 4, 0);
  body.writeInt16BE(3, 4);
  body.writeInt16BE(1, 6);
  body.writeInt32BE(1, 8);
  body.writeInt16BE(client.length, 12);
  client.copy(body, 14);
  body.writeInt32BE(0, 14 + client.length);
  return body;
};

/** Kafka: how many brokers of its cluster the one at a port knows to be registered and not fenced. */
export const kafkaBrokersKnown = async (port: number): Promise<number> => {
  const answer = await ask(port, kafkaMetadataRequest(), (bytes) => bytes.length >= 12);
  return answer.readInt32BE(8);
};

/** Kafka: the metadata name at least one broker. */
export const kafkaAnswers = async (port: number): Promise<boolean> => (await kafkaBrokersKnown(port)) >= 1;

/** `{ isMaster: 1, $db: "admin" }` as an OP_MSG: the greeting that every server knows, also those without `hello`. */
export const mongoGreeting = (): Buffer => {
  const document = Buffer.concat([
    Buffer.from('\x10isMaster\0\x01\0\0\0', 'latin1'),
    Buffer.from('\x02$db\0\x06\0\0\0admin\0', 'latin1'),
    Buffer.from([0]),
  ]);
  const message = Buffer.alloc(16 + 4 + 1 + 4);
  message.writeInt32LE(message.length + document.length, 0);
  message.writeInt32LE(1, 4);
  message.writeInt32LE(2013, 12);
  message.writeInt32LE(document.length + 4, 21);
  return Buffer.concat([message, document]);
};

/** MongoDB: the greeting is answered by a document that says that writes are taken. */
export const mongoAnswers = async (port: number): Promise<boolean> => {
  const answer = await ask(port, mongoGreeting(), (bytes) => bytes.length >= 4 && bytes.length >= bytes.readInt32LE(0));
  return answer.includes('ismaster\0\x01', 0, 'latin1');
};

/** HTTP: an answer, whatever it says, that is not the server's own failure. An unsigned request to an S3 store is refused, by a ready one. */
export const httpAnswers = async (port: number): Promise<boolean> => {
  const response = await fetch(`http://${HOST}:${port}/`, { signal: AbortSignal.timeout(ANSWER_MS) });
  await response.body?.cancel();
  return response.status < 500;
};

/** gRPC: an HTTP/2 connection is opened and the server has sent its settings. */
export const grpcAnswers = async (port: number): Promise<boolean> => {
  const session = connectHttp2(`http://${HOST}:${port}`);
  try {
    session.setTimeout(ANSWER_MS, () => session.destroy(new Error(`port ${port} is silent`)));
    await once(session, 'remoteSettings');
    return true;
  } finally {
    session.destroy();
  }
};

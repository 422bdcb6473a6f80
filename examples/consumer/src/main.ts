import { connectionOf, WrongSetting } from './connection.ts';
import { startConsumer } from './consumer.ts';
import { openInbox } from './inbox.ts';

const { TOPIC = 'bindery.content.v1', GROUP = 'example-merges', DATABASE = './merges.db' } = process.env;

const giveUp = (reason: string): never => {
  process.stderr.write(`${reason}\n`);
  process.exit(2);
};
const readConnection = (): ReturnType<typeof connectionOf> => {
  try {
    return connectionOf(process.env);
  } catch (error) {
    if (error instanceof WrongSetting) return giveUp(error.message);
    throw error;
  }
};

const log = (line: Readonly<Record<string, unknown>>): void => {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`);
};
const consumer = await startConsumer({
  connection: readConnection(),
  topic: TOPIC,
  group: GROUP,
  inbox: openInbox(DATABASE),
  log,
}).catch((error: Error) => giveUp(`cannot start: ${error.message}`));
log({ message: 'started', topic: TOPIC, group: GROUP });

let ending = false;
const end = async (signal: string): Promise<void> => {
  if (ending) return;
  ending = true;
  // A broker that does not answer must not hold up the end; what was handled is stored.
  setTimeout(() => process.exit(1), 15_000).unref();
  await consumer.stop();
  log({ message: 'ended', signal });
  process.exit(0);
};
process.on('SIGTERM', () => void end('SIGTERM'));
process.on('SIGINT', () => void end('SIGINT'));

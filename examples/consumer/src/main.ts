import { startConsumer } from './consumer.ts';
import { openInbox } from './inbox.ts';

const { KAFKA_BROKERS, TOPIC = 'bindery.content.v1', GROUP = 'example-merges', DATABASE = './merges.db' } = process.env;
if (KAFKA_BROKERS === undefined || KAFKA_BROKERS === '') {
  process.stderr.write('KAFKA_BROKERS is required: host:port, several separated by commas\n');
  process.exit(2);
}

const log = (line: Readonly<Record<string, unknown>>): void => {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`);
};
const consumer = await startConsumer({
  brokers: KAFKA_BROKERS.split(','),
  topic: TOPIC,
  group: GROUP,
  inbox: openInbox(DATABASE),
  log,
});
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

import { parseArgs } from 'node:util';
import { KafkaDouble } from './double.ts';

/**
 * The double as a process: `node main.ts --port 9092 --data DIRECTORY`. Prints one line of JSON once it serves
 * (`{"ready":true,"port":...}`), ends on SIGTERM and SIGINT, survives SIGKILL.
 */
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, data: { type: 'string' } } });
if (values.data === undefined) throw new Error('--data DIRECTORY is missing');
const double = await KafkaDouble.start({ port: Number(values.port), directory: values.data });
process.stdout.write(`${JSON.stringify({ ready: true, port: double.port })}\n`);
const end = (): void => {
  void double.stop().then(() => process.exit(0));
};
process.once('SIGTERM', end).once('SIGINT', end);

import { parseArgs } from 'node:util';
import { serveControl } from './control.ts';
import { EventStoreDbDouble } from './double.ts';

/**
 * The double as a process: `node main.ts --port 2113 --data DIRECTORY [--control-port 0]
 * [--max-append-size BYTES] [--no-sync]`. Prints one line of
 * JSON once it serves (`{"ready":true,"port":...,"controlPort":...}`), ends on SIGTERM and SIGINT, survives SIGKILL.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    data: { type: 'string' },
    'control-port': { type: 'string', default: '0' },
    // As docker-compose.yml sets the real one.
    'max-append-size': { type: 'string', default: '16000000' },
    sync: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
if (values.data === undefined) throw new Error('--data DIRECTORY is missing');

const double = await EventStoreDbDouble.start({
  port: Number(values.port),
  directory: values.data,
  sync: values.sync,
  maxAppendBytes: Number(values['max-append-size']),
});
const control = serveControl(double);
control.listen(Number(values['control-port']), '127.0.0.1', () => {
  const address = control.address();
  const controlPort = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ ready: true, port: double.port, controlPort })}\n`);
});

const end = (): void => {
  control.close();
  control.closeAllConnections();
  void double.stop().then(() => process.exit(0));
};
process.once('SIGTERM', end).once('SIGINT', end);

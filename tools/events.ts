import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serviceTopic } from '@bindery/message-bus';
import { openEmbeddedMessageBus } from '@bindery/message-bus/embedded';

const usage = `npm run events -- [--follow] [--from end] [--service NAME ...] [--type PREFIX] [--json]

Prints the public events of the embedded profile, oldest first, as they stand in the bus of DATA_DIR (default: data).

  --follow          stay and print what comes
  --from end        only what comes from now on (with --follow)
  --service NAME    content or identity; both by default
  --type PREFIX     only types that start with this
  --json            whole CloudEvents, one a line`;

const { values } = parseArgs({
  options: {
    follow: { type: 'boolean', short: 'f', default: false },
    from: { type: 'string', default: 'beginning' },
    service: { type: 'string', multiple: true, default: ['identity', 'content'] },
    type: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const file = join(process.env.DATA_DIR ?? 'data', 'bus.db');
if (values.help) console.log(usage);
else if (values.from !== 'beginning' && values.from !== 'end') {
  console.error(`events: --from is "beginning" or "end", not "${values.from}"`);
  process.exitCode = 1;
} else if (!existsSync(file)) {
  console.error(`events: ${file} is not there; start the instance first, or set DATA_DIR`);
  process.exitCode = 1;
} else {
  const bus = openEmbeddedMessageBus({ path: file });
  const stopped = new AbortController();
  process.once('SIGINT', () => stopped.abort());
  process.stdout.on('error', () => stopped.abort());
  try {
    for await (const { event } of bus.tail(values.service.map(serviceTopic), {
      from: values.from,
      follow: values.follow,
      signal: stopped.signal,
    })) {
      if (!event.type.startsWith(values.type)) continue;
      console.log(
        values.json
          ? JSON.stringify(event)
          : `${event.time}  ${event.type.padEnd(52)} ${event.subject}  ${JSON.stringify(event.data)}`,
      );
    }
  } finally {
    await bus.close();
  }
}

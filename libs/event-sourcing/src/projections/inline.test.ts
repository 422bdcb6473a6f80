import { noopTelemetry } from '@bindery/telemetry';
import { expect, test } from '@jest/globals';
import type { ProjectionContext } from './context.ts';
import { InlineProjector } from './inline.ts';

test('documents that commands leave to the runner are said once, then counted; the metric counts each', async () => {
  const said: (object | undefined)[] = [];
  let counted = 0;
  const { logger } = noopTelemetry();
  const inline = new InlineProjector({
    service: 'content',
    telemetry: {
      ...noopTelemetry(),
      logger: { ...logger, warn: (_message: string, fields?: object) => said.push(fields) },
    },
    tracked: [{ inline: true, follows: () => true }],
    gate: { pass: () => Promise.reject(new Error('away')) },
    instruments: { inlineFailures: { add: () => (counted += 1) } },
  } as unknown as ProjectionContext);
  for (let n = 0; n < 20; n += 1) await inline.catchUp(`content.space-${n}`);
  expect(said).toMatchObject([{ stream: 'content.space-0' }]);
  inline.stop();
  expect(said.slice(1)).toMatchObject([{ stream: 'content.space-19', repeated: 19 }]);
  expect(counted).toBe(20);
});

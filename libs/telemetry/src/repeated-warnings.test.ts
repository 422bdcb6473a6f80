import { expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';
import { createRepeatedWarnings } from './repeated-warnings.ts';

const lines = () => {
  const written: Record<string, unknown>[] = [];
  const sink = { write: (line: string) => written.push(JSON.parse(line)) };
  const current = (): undefined => undefined;
  return {
    written,
    logger: createLogger({ service: 'x', version: '1', level: 'info', format: 'json', sink, current }),
  };
};
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
};

test('the first of a kind is written at once; those that follow are counted and written once per interval', async () => {
  const { written, logger } = lines();
  const repeats = createRepeatedWarnings(logger, 40);
  for (let count = 0; count < 1000; count += 1) repeats.warn('busy', 'not served', { requestId: count });
  repeats.warn('away', 'a store is away');
  expect(written).toMatchObject([
    { level: 'warn', message: 'not served', requestId: 0 },
    { level: 'warn', message: 'a store is away' },
  ]);
  await until(() => written.length === 3);
  expect(written[2]).toMatchObject({ message: 'not served', requestId: 999, repeated: 999 });
  // After an interval without any the next one is a first one again.
  // Timers fire in the order in which they are due: an interval that is over goes before this one.
  await new Promise((resolve) => setTimeout(resolve, 100));
  repeats.warn('away', 'a store is away', { again: true });
  expect(written.at(-1)).toMatchObject({ message: 'a store is away', again: true });
  repeats.stop();
});

test('what was counted last is written at the end', () => {
  const { written, logger } = lines();
  const repeats = createRepeatedWarnings(logger, 60_000);
  for (let count = 0; count < 3; count += 1) repeats.warn('busy', 'not served');
  repeats.warn('once', 'seldom');
  repeats.stop();
  repeats.stop();
  expect(written.map(({ message, repeated }) => [message, repeated])).toEqual([
    ['not served', undefined],
    ['seldom', undefined],
    ['not served', 2],
  ]);
});

test('kinds are bounded: those beyond are counted together', () => {
  const { written, logger } = lines();
  const repeats = createRepeatedWarnings(logger, 60_000);
  for (let kind = 0; kind < 1000; kind += 1) repeats.warn(`kind ${kind}`, 'strange');
  repeats.stop();
  expect(written).toHaveLength(202);
  expect(written.at(-1)).toMatchObject({ message: 'strange', repeated: 799 });
});

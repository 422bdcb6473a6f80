import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { digestOf } from './digests.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const usedBytes = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

/** Text as it comes in a header: flat, and of one byte a character. */
const header = (text: string): string => Buffer.from(text).toString('latin1');
const junk = 'x'.repeat(30_000);

test('is the SHA-256 in hex, whenever it is asked for', () => {
  for (const credentials of ['', 'abc', 'é', `Bearer ${junk}`]) {
    const expected = createHash('sha256').update(credentials).digest('hex');
    for (let times = 0; times < 2; times += 1) expect(digestOf(credentials)).toBe(expected);
  }
});

test('anybody may send long headers: neither they nor what surrounds credentials is kept', () => {
  const before = usedBytes();
  for (let index = 0; index < 999; index += 1) {
    digestOf(header(`Bearer ${index} ${junk}`));
    digestOf(header(`session=a-secret-that-nobody-has-${index}; other=${junk}`).slice('session='.length, 36));
  }
  expect(usedBytes() - before).toBeLessThan(5_000_000);
});

import { expect, test } from '@jest/globals';
import { gitProjections } from './git/index.ts';
import { importRunProjections } from './import-runs/index.ts';

test('commands keep none of the documents that grow with the content: a thousand of them would fill the memory', () => {
  const kept = [...gitProjections, ...importRunProjections].filter(({ keeps }) => keeps === true);
  expect(kept.map(({ name }) => name)).toEqual(['git-sync', 'import-runs']);
});

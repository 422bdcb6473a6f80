/**
 * Compares the contract with the list of operations of the specification, for people: what is declared, what is missing,
 * what differs. Run with `npm run progress`. The list lies beside the repository; without it there is nothing to say.
 */
import { readFile } from 'node:fs/promises';
import { operations } from '@bindery/contracts';
import { compareWithSpecification, parseSpecification } from './progress/compare.ts';

const location = new URL('../../shared/spec/operations.tsv', import.meta.url);

const text = await readFile(location, 'utf8').catch((error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
});
if (text === undefined) {
  console.log('No operations.tsv beside the repository: nothing to compare with.');
} else {
  const { table, missing, differences, extensions } = compareWithSpecification(parseSpecification(text), operations);
  console.log(table);
  for (const [group, ids] of missing) console.log(`\n${group}, missing:\n  ${ids.join(' ')}`);
  console.log(`\nBeyond the specification: ${extensions.join(' ') || 'nothing'}`);
  console.log(differences.length === 0 ? '\nNo differences.' : `\nDifferences:\n  ${differences.join('\n  ')}`);
  if (differences.length > 0) process.exitCode = 1;
}

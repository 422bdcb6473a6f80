import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Runs a script that prints a line for each thing it has been promised, kills it with SIGKILL in the middle, and gives
 * the lines. The kill falls anywhere: the script goes on while the last line travels.
 * @param afterLines how many lines to wait for
 */
export const killAfterLines = async (
  script: string,
  parameters: readonly string[],
  afterLines: number,
): Promise<readonly string[]> => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === afterLines) child.kill('SIGKILL');
  }
  const [, signal] = await closed;
  if (signal !== 'SIGKILL') throw new Error(`${script} ended by itself after ${lines.length} lines`);
  return lines;
};

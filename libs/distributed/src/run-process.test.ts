import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';

const module = new URL('./run-process.ts', import.meta.url).href;
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process of one part; `part` is its code. It says what happens in lines on its standard output. */
const run = (part: string) => {
  const script = `
    const { runProcess } = await import(${JSON.stringify(module)});
    const say = (text) => process.stdout.write('#' + text + '\\n');
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    await runProcess({ name: 'test', version: '0', settings: {}, compose: async ({ keep }) => {
      keep('store', { close: async () => say('closed') });
      return [${part}, { name: 'last', start: async () => say('last') }];
    } });
    setInterval(() => {}, 1000);`;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
    {
      env: { PATH: process.env.PATH, LOG_LEVEL: 'error' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  children.push(child);
  const said: string[] = [];
  let output = '';
  const ended = once(child, 'close').then(([code]) => code as unknown);
  const until = (line: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (said.includes(line)) resolve();
      };
      child.stdout.on('data', look);
      look();
    });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    said.splice(0, said.length, ...[...output.matchAll(/^#(.*)$/gm)].map(([, line = '']) => line));
  });
  return { child, said, until, ended, output: () => output };
};

describe('a process', () => {
  test('ends in order on a signal, also when the same signal comes twice at once', async () => {
    const { child, said, until, ended } = run(
      `{ name: 'part', stop: async () => { say('stopping'); await wait(300); say('stopped'); } }`,
    );
    await until('last');
    child.kill('SIGTERM');
    await until('stopping');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said).toEqual(['last', 'stopping', 'stopped', 'closed']);
  });

  test('ends at once on a second signal that comes later', async () => {
    const { child, said, until, ended } = run(
      `{ name: 'part', stop: async () => { say('stopping'); await wait(600); say('slow'); await wait(4000); } }`,
    );
    await until('last');
    child.kill('SIGTERM');
    await until('slow');
    child.kill('SIGTERM');
    expect(await ended).toBe(1);
    expect(said).not.toContain('closed');
  });

  test('a signal in the middle of a start stops what was started, and nothing more starts', async () => {
    const { child, said, until, ended } = run(
      `{ name: 'part', start: async () => { say('starting'); await wait(200); throw new Error('stopped in the middle'); },
         stop: async () => { say('stopping'); await wait(400); } }`,
    );
    await until('starting');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said).toEqual(['starting', 'stopping', 'closed']);
  });

  test('a start that fails says why, closes what was opened and ends with an error', async () => {
    const { said, ended, output } = run(`{ name: 'part', start: async () => { throw new Error('no store there'); } }`);
    expect(await ended).toBe(1);
    expect(said).toEqual(['closed']);
    expect(output()).toContain('no store there');
  });
});

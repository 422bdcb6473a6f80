import { spawn } from 'node:child_process';

/** Bytes of output that are kept. The largest are the manifests of an overlay, far below. */
const maxOutput = 64 * 1024 * 1024;

/** What a program did. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** It is ended after so long, in ms. Default 10 minutes: the first build of the tools. */
  readonly timeoutMs?: number;
}

/** A program failed; the message has the end of what it said. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
}

/** Runs a program to its end, whatever its exit code. @throws Error when it cannot be started or says too much */
export const outcomeOf = async (
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> => {
  const child = spawn(command, [...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? 600_000,
  });
  const collect = async (stream: NodeJS.ReadableStream): Promise<string> => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxOutput) throw new Error(`${command} wrote more than ${maxOutput} bytes`);
      chunks.push(bytes);
    }
    return Buffer.concat(chunks).toString('utf8');
  };
  const exit = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? (signal ? 128 : 1)));
  });
  const [code, stdout, stderr] = await Promise.all([exit, collect(child.stdout), collect(child.stderr)]);
  return { code, stdout, stderr };
};

/** Runs a program. @returns its standard output. @throws ProgramFailed when it fails */
export const run = async (command: string, args: readonly string[], options: RunOptions = {}): Promise<string> => {
  const { code, stdout, stderr } = await outcomeOf(command, args, options);
  if (code !== 0)
    throw new ProgramFailed(
      `${command} ${args.join(' ')}: exit code ${code}\n${(stdout + stderr).trim().slice(-6000)}`,
    );
  return stdout;
};

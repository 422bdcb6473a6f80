import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '@bindery/deploy/run';
import { flagOf, type Instruction, pairsOf, type Stage } from './dockerfile.ts';

/** What an image would be: a folder and how its process starts. */
export interface Materialised {
  readonly root: string;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  readonly user: string;
}

export interface BuildByHand {
  readonly stages: readonly Stage[];
  /** Folder of the context and those of its files that the ignore file lets through. */
  readonly context: { readonly folder: string; readonly files: readonly string[] };
  readonly buildArgs: Readonly<Record<string, string>>;
  /** Where the stages are laid out, one folder each. */
  readonly target: string;
  /** Directory of the `node` that RUN lines find first. */
  readonly nodeBin: string;
  readonly say: (line: string) => void;
}

interface State {
  root: string;
  workingDirectory: string;
  environment: Record<string, string>;
  args: Record<string, string>;
  command: readonly string[];
  healthCheck: readonly string[];
  user: string;
}

/** Lines for the base image alone: they would hit this machine, whose files are not in a folder of ours. */
const touchesTheSystem = (line: string): boolean => /(^|[\s=>"'])\/[A-Za-z]/.test(line);

/**
 * Does what the instructions of a Dockerfile say, in folders, without an engine and without a base image: what is copied
 * ends up where it would, and what is run is run there. It shows that the list of copied files is complete.
 * @returns the last stage. @throws Error at an instruction that it does not know
 */
export const buildByHand = async (input: BuildByHand): Promise<Materialised> => {
  const built = new Map<string, State>();

  const copy = (state: State, instruction: Instruction): void => {
    const from = flagOf(instruction, 'from');
    const sources = instruction.args.slice(0, -1);
    const to = join(state.root, inside(state, instruction.args.at(-1) ?? ''));
    mkdirSync(to, { recursive: true });
    if (from === undefined) {
      if (sources.join() !== '.') throw new Error(`line ${instruction.line}: only the whole context is understood`);
      for (const file of input.context.files) {
        mkdirSync(dirname(join(to, file)), { recursive: true });
        cpSync(join(input.context.folder, file), join(to, file));
      }
      return;
    }
    const base = built.get(from);
    if (!base) throw new Error(`line ${instruction.line}: no stage '${from}'`);
    // The content of a folder, not the folder; links stay what they are.
    for (const source of sources)
      for (const name of readdirSync(join(base.root, source)))
        cpSync(join(base.root, source, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  };

  const runLine = async (state: State, stage: Stage, instruction: Instruction): Promise<void> => {
    const line = instruction.args.join(' ');
    if (touchesTheSystem(line)) {
      if (stage.instructions.some(({ name }) => name === 'COPY'))
        throw new Error(`line ${instruction.line}: an absolute path in a stage that has files of ours`);
      input.say(`  skipped, of the base image: ${line.slice(0, 60)}...`);
      return;
    }
    input.say(`  ${line.slice(0, 100)}`);
    await run('/bin/sh', ['-euc', line], {
      cwd: join(state.root, state.workingDirectory),
      env: { ...state.environment, ...state.args, PATH: `${input.nodeBin}:${process.env.PATH}` },
    });
  };

  const apply = async (state: State, stage: Stage, instruction: Instruction): Promise<void> => {
    switch (instruction.name) {
      case 'ARG':
        for (const pair of instruction.args) {
          const [name = '', fallback] = pair.split('=');
          const value = input.buildArgs[name] ?? fallback;
          if (value !== undefined) state.args[name] = value;
        }
        return;
      case 'WORKDIR':
        state.workingDirectory = inside(state, instruction.args[0] ?? '');
        mkdirSync(join(state.root, state.workingDirectory), { recursive: true });
        return;
      case 'COPY':
        return copy(state, instruction);
      case 'RUN':
        return runLine(state, stage, instruction);
      case 'ENV':
        Object.assign(state.environment, pairsOf(instruction));
        return;
      case 'USER':
        state.user = instruction.args[0] ?? '';
        return;
      case 'CMD':
        if (!instruction.exec) throw new Error(`line ${instruction.line}: a shell would be process 1`);
        state.command = instruction.args;
        return;
      case 'HEALTHCHECK':
        state.healthCheck = instruction.args.slice(1);
        return;
      case 'LABEL':
      case 'EXPOSE':
      case 'STOPSIGNAL':
        return;
      default:
        throw new Error(`line ${instruction.line}: ${instruction.name} is not understood`);
    }
  };

  let last: State | undefined;
  for (const stage of input.stages) {
    input.say(`stage ${stage.name}`);
    const base = built.get(stage.base);
    const root = join(input.target, stage.name);
    mkdirSync(root, { recursive: true });
    if (base) cpSync(base.root, root, { recursive: true, verbatimSymlinks: true });
    const state: State = {
      root,
      workingDirectory: base?.workingDirectory ?? '/',
      environment: { ...base?.environment },
      args: {},
      command: base?.command ?? [],
      healthCheck: base?.healthCheck ?? [],
      user: base?.user ?? '',
    };
    for (const instruction of stage.instructions) await apply(state, stage, instruction);
    built.set(stage.name, state);
    last = state;
  }
  if (!last) throw new Error('no stage');
  return last;
};

const inside = (state: State, path: string): string =>
  path.startsWith('/') ? path : join(state.workingDirectory, path);

/** The content of the file of an image, or undefined. */
export const fileOf = (image: Materialised, path: string): string | undefined => {
  const file = join(image.root, image.workingDirectory, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
};

import { run } from '@bindery/deploy/run';

/** One instruction, as BuildKit's parser reads it. */
export interface Instruction {
  readonly name: string;
  readonly line: number;
  readonly args: readonly string[];
  readonly flags?: readonly string[];
  readonly exec?: boolean;
}

/** One FROM and what follows it. */
export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Lints a Dockerfile. @returns its stages. @throws ProgramFailed with every warning of the linter */
export const stagesOf = async (
  deploycheck: string,
  file: string,
  args: Readonly<Record<string, string>>,
): Promise<readonly Stage[]> =>
  JSON.parse(
    await run(deploycheck, ['dockerfile', file, ...Object.entries(args).map(([key, value]) => `${key}=${value}`)]),
  );

/** The value of a flag such as `--from=source`. */
export const flagOf = ({ flags = [] }: Instruction, name: string): string | undefined =>
  flags.find((flag) => flag.startsWith(`--${name}=`))?.slice(name.length + 3);

/** The pairs of an ENV or LABEL instruction, whose parser gives name, value and separator in turn. */
export const pairsOf = ({ args }: Instruction): Readonly<Record<string, string>> => {
  const pairs: Record<string, string> = {};
  for (let at = 0; at + 1 < args.length; at += 3)
    pairs[args[at] ?? ''] = (args[at + 1] ?? '').replace(/^"(.*)"$/, '$1');
  return pairs;
};

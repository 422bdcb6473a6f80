import type { OperationDefinition } from '@bindery/contracts';

/** One line of the list. */
export interface SpecifiedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly owner: string;
  readonly tier: string;
  readonly success: readonly number[];
}

/** Reads the tab-separated list: a head line, then one operation a line. */
export function parseSpecification(text: string): readonly SpecifiedOperation[] {
  const [head = '', ...lines] = text.split('\n').filter((line) => line !== '');
  const columns = head.split('\t');
  return lines.map((line) => {
    const cells = line.split('\t');
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? '';
    return {
      id: cell('id'),
      method: cell('method'),
      path: cell('path'),
      owner: cell('owner'),
      tier: cell('tier'),
      // A note can say that a code of the client is not the reference's: answering it is not asked for.
      success: cell('success')
        .split(',')
        .map(Number)
        .filter((code) => !new RegExp(`\\b${code} = .*\\(not in reference\\)`).test(cell('notes'))),
    };
  });
}

export interface Comparison {
  /** Markdown: one row per owner, one column per tier, `declared / specified`. */
  readonly table: string;
  /** `owner (tier)` -> ids. */
  readonly missing: ReadonlyMap<string, readonly string[]>;
  /** Where a declared operation is not as specified. */
  readonly differences: readonly string[];
  /** Declared operations that the specification does not have. */
  readonly extensions: readonly string[];
}

const tiers = ['reference', 'needed', 'beyond'] as const;

/** Compares the declared operations with the specified ones. */
export function compareWithSpecification(
  specified: readonly SpecifiedOperation[],
  declared: Readonly<Record<string, OperationDefinition>>,
): Comparison {
  const byId = new Map(Object.values(declared).map((operation) => [operation.id, operation]));
  const owners = [...new Set(specified.map(({ owner }) => owner))];
  const count = (list: readonly SpecifiedOperation[]): string =>
    `${list.filter(({ id }) => byId.has(id)).length} / ${list.length}`;
  const row = (name: string, list: readonly SpecifiedOperation[]): string =>
    `| ${[name, ...tiers.map((tier) => count(list.filter((one) => one.tier === tier))), count(list)].join(' | ')} |`;
  const table = [
    `| service | ${tiers.join(' | ')} | all |`,
    `| --- |${' ---: |'.repeat(tiers.length + 1)}`,
    ...owners.map((owner) =>
      row(
        owner,
        specified.filter((one) => one.owner === owner),
      ),
    ),
    row('all', specified),
  ].join('\n');

  const missing = new Map<string, string[]>();
  for (const { id, owner, tier } of specified) {
    if (byId.has(id)) continue;
    const group = `${owner} (${tier})`;
    missing.set(group, [...(missing.get(group) ?? []), id]);
  }
  const known = new Set(specified.map(({ id }) => id));
  const differences = specified.flatMap((one) => {
    const operation = byId.get(one.id);
    return operation ? differ(one, operation) : [];
  });
  const extensions = [...byId.values()]
    .filter(({ id, surface }) => surface === 'public' && !known.has(id))
    .map(({ id }) => id);
  return { table, missing, differences, extensions };
}

function differ(specified: SpecifiedOperation, operation: OperationDefinition): readonly string[] {
  const found: string[] = [];
  const compare = (what: string, expected: string, actual: string): void => {
    if (expected !== actual) found.push(`${specified.id}: ${what} is ${actual}, specified ${expected}`);
  };
  compare('method', specified.method, operation.method);
  compare('path', specified.path, operation.path.replaceAll('*}', '}'));
  // `Prefer: return=minimal` makes 204 possible without being a success code of its own.
  const codes = [...new Set([...Object.keys(operation.success).map(Number), ...(operation.minimal ? [204] : [])])];
  const codesOf = (list: readonly number[]): string => [...list].sort((a, b) => a - b).join(',');
  compare('success', codesOf(specified.success), codesOf(codes));
  return found;
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardQueries, documentedMetrics, type Reading, unknownIn } from './dashboards.ts';
import { ProgramFailed, run } from './run.ts';
import { root } from './tools.ts';

/** How often the tests saw an alert ring, and how often they saw it quiet. */
export interface Tried {
  readonly firing: number;
  readonly quiet: number;
}

/** One check of this part and what it found. */
export interface Finding {
  readonly what: string;
  readonly problems: readonly string[];
}

const at = (file: string): string => join(root, 'infra/observability', file);

/** @returns alerts that no test sees ring, or none sees quiet, and tests of alerts that are not there */
export const untried = (alerts: readonly string[], tried: Readonly<Record<string, Tried>>): readonly string[] => [
  ...alerts.flatMap((alert) => {
    const { firing, quiet } = tried[alert] ?? { firing: 0, quiet: 0 };
    return [
      ...(firing > 0 ? [] : [`${alert} rings in no test`]),
      ...(quiet > 0 ? [] : [`${alert} is quiet in no test`]),
    ];
  }),
  ...Object.keys(tried)
    .filter((alert) => !alerts.includes(alert))
    .map((alert) => `${alert} is tested but not there`),
];

/** Runs a program whose refusal of a file is a finding. */
const finding = async (what: string, work: () => Promise<readonly string[]>): Promise<Finding> => {
  try {
    return { what, problems: await work() };
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error;
    return { what, problems: [error.message] };
  }
};

/** What Prometheus says of its files and of the dashboards' expressions. @param scratch a folder for a file between both */
export const wrongForPrometheus = async (promcheck: string, scratch: string): Promise<readonly Finding[]> => {
  const ask = async <T>(kind: string, file: string): Promise<T> => JSON.parse(await run(promcheck, [kind, file]));
  const known = documentedMetrics();
  const alerts: string[] = [];
  const queries = dashboardQueries();
  return [
    await finding('prometheus.yml: loader of Prometheus', async () => {
      const { ruleFiles } = await ask<{ readonly ruleFiles: readonly string[] }>('config', at('prometheus.yml'));
      return ruleFiles.some((file) => file.endsWith('/alerts.yml')) ? [] : ['does not load alerts.yml'];
    }),
    await finding('alerts.yml: loader of Prometheus, metrics and labels', async () => {
      const rules = await ask<readonly (Reading & { readonly alert: string })[]>('rules', at('alerts.yml'));
      alerts.push(...rules.map(({ alert }) => alert));
      return rules.flatMap((rule) => unknownIn(rule, known).map((problem) => `${rule.alert}: ${problem}`));
    }),
    await finding('alerts.test.yml: every alert rings and is quiet', async () =>
      untried(alerts, await ask('test', at('alerts.test.yml'))),
    ),
    await finding(`dashboards: ${queries.length} expressions, metrics, labels and legends`, async () => {
      const file = join(scratch, 'expressions.json');
      writeFileSync(
        file,
        JSON.stringify(Object.fromEntries(queries.map(({ name, expression }) => [name, expression]))),
      );
      const readings = await ask<Readonly<Record<string, Reading>>>('expressions', file);
      return queries.flatMap(({ name, legend }) => {
        const reading = readings[name];
        const problems = reading === undefined ? ['was not looked at'] : unknownIn(reading, known, legend);
        return problems.map((problem) => `${name}: ${problem}`);
      });
    }),
  ];
};

/** What the collector says of its configuration. */
export const wrongForCollector = async (collector: string): Promise<readonly Finding[]> => [
  await finding('collector.yml: loader of the collector', async () => {
    await run(collector, ['validate', '--config', at('collector.yml')]);
    return [];
  }),
];

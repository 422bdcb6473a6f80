import { globSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from './manifests.ts';
import { root } from './tools.ts';

/** What an expression asks of the metrics, as Prometheus' parser sees it. */
export interface Reading {
  /** Metrics by name, with the labels that selectors and groupings name. */
  readonly metrics: Readonly<Record<string, readonly string[]>>;
  /** Labels of the result where grouping decides them; null: those of the series. */
  readonly labels: readonly string[] | null;
}

/** One query of a dashboard. */
export interface Query {
  /** Dashboard, panel and number of the query. */
  readonly name: string;
  readonly expression: string;
  /** What the legend says, with `{{label}}`. */
  readonly legend: string;
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query?: string | { readonly query: string } }[];
  };
}

/** Grafana fills these in before Prometheus sees the expression; any value of their kind does. */
const filled = (expression: string): string =>
  expression
    .replace(/\$__(?:rate_)?interval\b|\$\{__(?:rate_)?interval\}|\$__range\b|\$\{__range\}/g, '5m')
    .replace(/\$(?:\w+|\{\w+(?::\w+)?\})/g, 'value');

/** The queries of a dashboard: those of its panels, and those that fill its variables. */
export const queriesOf = ({ uid, panels, templating }: Dashboard): readonly Query[] => [
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat = '' }, index) => ({
      name: `${uid}: ${title} (${index + 1})`,
      expression: filled(expr),
      legend: legendFormat,
    })),
  ),
  ...templating.list.flatMap(({ name, query = '' }) => {
    const text = typeof query === 'string' ? query : query.query;
    const [, selector] = /^(?:label_values|query_result)\((.*?)(?:,\s*\w+)?\)$/.exec(text) ?? [];
    return selector === undefined ? [] : [{ name: `${uid}: $${name}`, expression: filled(selector), legend: '' }];
  }),
];

/** Every query of the dashboards of infra/observability. */
export const dashboardQueries = (): readonly Query[] =>
  globSync('infra/observability/dashboards/*.json', { cwd: root })
    .toSorted()
    .flatMap((file) => queriesOf(JSON.parse(textOf(file))));

/** Added by Prometheus when it scrapes, or by the format to histograms. */
const everywhere = ['job', 'instance', 'le'];

/**
 * The metrics of the product with their labels, from the table of the page on observability. That a running product exposes these
 * and no others is a test of its own (tools/observability.test.ts).
 */
export const documentedMetrics = (
  page = textOf(join('docs', 'operations', 'observability.md')),
): Map<string, string[]> =>
  new Map(
    [...page.matchAll(/^\| `(bindery_\w+)` \| ([^|]*)\|/gm)].map(([, name, labels]) => [
      String(name),
      String(labels)
        .split(',')
        .map((label) => label.trim())
        .filter((label) => label !== ''),
    ]),
  );

/** @returns what an expression reads that the product does not have: metrics, labels, labels of a legend */
export const unknownIn = (
  { metrics, labels }: Reading,
  known: ReadonlyMap<string, readonly string[]>,
  legend = '',
): readonly string[] => {
  const problems = Object.entries(metrics).flatMap(([name, named]) => {
    // Those of Node and of the process are held together with a running product by that other test.
    if (!name.startsWith('bindery_'))
      return /^(?:up|process_\w+|nodejs_\w+)$/.test(name) ? [] : [`there is no ${name}`];
    const has = known.get(name) ?? known.get(name.replace(/_(?:bucket|count|sum)$/, ''));
    if (has === undefined) return [`there is no ${name}`];
    return named
      .filter((label) => !has.includes(label) && !everywhere.includes(label))
      .map((label) => `${name} has no label ${label}`);
  });
  const shown = [...legend.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label]) => String(label));
  const given = labels ?? [...everywhere, ...Object.keys(metrics).flatMap((name) => known.get(name) ?? [])];
  return [...problems, ...shown.filter((label) => !given.includes(label)).map((label) => `no ${label} for the legend`)];
};

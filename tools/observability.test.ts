import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEmbedded, readSettings } from '@bindery/standalone';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
const { groups }: { readonly groups: readonly { readonly rules: readonly Rule[] }[] } = parse(
  at('infra/observability/alerts.yml'),
);
const rules = groups.flatMap((group) => group.rules);

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}
const boardFolder = 'infra/observability/dashboards';
const boards = readdirSync(join(root, boardFolder)).map(
  (file): { readonly uid: string; readonly panels: readonly Panel[] } => JSON.parse(at(`${boardFolder}/${file}`)),
);

/** Metrics that an expression names, without the endings that histograms add. */
const metricsOf = (expr: string): readonly string[] =>
  (expr.match(/\b(?:bindery|process|nodejs)_[a-z0-9_]+\b(?=[{[\s)]|$)/g) ?? []).map((name) =>
    name.replace(/_(?:bucket|count|sum)$/, ''),
  );

describe('what operators see', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-scrape-'));
  let instance: Awaited<ReturnType<typeof createEmbedded>>;
  let exposed: ReadonlySet<string>;
  beforeAll(async () => {
    const env = { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'error', IMPORT_DOCS: 'false' };
    instance = await createEmbedded(readSettings(env));
    const text = await (await fetch(`${instance.address.replace('localhost', '127.0.0.1')}/metrics`)).text();
    exposed = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => String(name)));
  });
  afterAll(async () => {
    await instance.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('alerts name metrics that a running product has', () => {
    expect(rules.length).toBeGreaterThan(10);
    const unknown = rules.flatMap(({ alert, expr }) =>
      metricsOf(expr).flatMap((name) => (exposed.has(name) ? [] : [`${alert}: ${name}`])),
    );
    expect(unknown).toEqual([]);
    expect(rules.filter(({ expr }) => metricsOf(expr).length === 0).map(({ alert }) => alert)).toEqual([
      'BinderyProcessDown', // Prometheus itself says so
    ]);
  });

  test('dashboards name metrics that a running product has', () => {
    const panels = boards.flatMap((board) => board.panels.map((panel) => ({ ...panel, uid: board.uid })));
    expect(panels.length).toBeGreaterThan(20);
    const unknown = panels.flatMap(({ uid, title, targets }) =>
      targets.flatMap(({ expr }) =>
        metricsOf(expr).flatMap((name) => (exposed.has(name) ? [] : `${uid}/${title}: ${name}`)),
      ),
    );
    expect(unknown).toEqual([]);
    const empty = panels.filter(({ targets }) => targets.some(({ expr }) => metricsOf(expr).length === 0));
    expect(empty.map(({ title }) => title)).toEqual([]);
    expect(new Set(boards.map(({ uid }) => uid)).size).toBe(boards.length);
  });

  test('the page on metrics has every metric of ours, and no other', () => {
    const named = new Set(
      [...at('docs/operations/observability.md').matchAll(/`(bindery_[a-z_]+)`/g)].map(([, name]) => name),
    );
    const ours = [...exposed].filter((name) => name.startsWith('bindery_'));
    expect([...named].sort()).toEqual(ours.sort());
  });
});

describe('alerts', () => {
  test('have a severity, a time, a summary and a runbook of their own', () => {
    for (const { alert, labels, annotations, ...rule } of rules) {
      expect(alert).toMatch(/^Bindery[A-Z][A-Za-z]+$/);
      expect(rule.for).toMatch(/^\d+[mh]$/);
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
      const page = at(String(annotations.runbook_url));
      expect(page).toContain(`**Alert** \`${alert}\``);
      expect(page).toContain(rule.expr);
      for (const part of ['What it means', 'What to look at', 'What to do']) expect(page).toContain(`## ${part}\n`);
    }
    expect(new Set(rules.map(({ annotations }) => annotations.runbook_url)).size).toBe(rules.length);
  });

  test('exist for every runbook', () => {
    const pages = readdirSync(join(root, 'docs/operations/runbooks')).filter((file) => file !== 'README.md');
    const linked = rules.map(({ annotations }) => annotations.runbook_url?.split('/').at(-1));
    expect(pages.sort()).toEqual(linked.sort());
    const summary = at('docs/SUMMARY.md');
    const index = at('docs/operations/runbooks/README.md');
    for (const page of pages) {
      expect(summary).toContain(`(operations/runbooks/${page})`);
      expect(index).toContain(`(${page})`);
    }
  });
});

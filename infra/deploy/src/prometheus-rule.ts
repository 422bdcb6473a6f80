/**
 * The alert rules as a resource for the Prometheus operator, from the file that Prometheus itself reads:
 * `npm run deploy:rules` writes it, the check compares.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { textOf } from './manifests.ts';
import { root } from './tools.ts';

/** Relative to the root. */
export const prometheusRuleFile = 'k8s/components/monitoring/prometheus-rule.yaml';
const source = 'infra/observability/alerts.yml';

/** The text of the resource. */
export const prometheusRule = (): string => {
  const { groups } = parse(textOf(source));
  const resource = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'bindery', labels: { 'app.kubernetes.io/name': 'bindery' } },
    spec: { groups },
  };
  return `# Made from ${source} by npm run deploy:rules.\n${stringify(resource, { lineWidth: 120 })}`;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(join(root, prometheusRuleFile), prometheusRule());

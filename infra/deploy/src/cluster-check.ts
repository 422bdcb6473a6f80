import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startApiServer } from './api-server.ts';
import { type Cluster, clusterOf, lost, nextRelease, podsOf } from './cluster.ts';
import { accepted, controls } from './controls.ts';
import { parseManifests, type Resource } from './manifests.ts';
import type { Finding } from './observability.ts';

/** What is applied together. */
export interface Rendering {
  /** The folder in k8s/. */
  readonly name: string;
  readonly resources: readonly Resource[];
  /** What was there before the last change of k8s/, where that is known. */
  readonly previous?: { readonly revision: string; readonly resources: readonly Resource[] };
}

/** What the server is asked to be: the version that it was built from, and the oldest whose behaviour it still has. */
const emulations = [[], ['--emulated-version=1.34']] as const;
/** A definition is served some moments after it was taken. */
const servedWithinMs = 30_000;

const problemsOf = async <T>(all: readonly T[], one: (item: T) => Promise<readonly string[]>): Promise<string[]> => {
  const problems: string[] = [];
  // In the order of the rendering, which is the order of `kubectl apply`.
  for (const item of all) problems.push(...(await one(item)));
  return problems;
};

/** Applies resources in their order. @returns problems, among them fields that the server left out */
export const applied = (cluster: Cluster, resources: readonly Resource[]): Promise<readonly string[]> =>
  problemsOf(resources, async (resource) => {
    const { problems, stored } = await cluster.apply(resource);
    const fields = stored ? lost(resource, stored) : [];
    return [
      ...problems,
      ...fields.map((field) => `${resource.kind} ${resource.metadata.name}: the server left out ${field}`),
    ];
  });

/** Applies twice. @returns problems, and resources that the second time changed */
export const appliedAgain = (cluster: Cluster, resources: readonly Resource[]): Promise<readonly string[]> =>
  problemsOf(resources, async (resource) => {
    const first = await cluster.apply(resource);
    const second = await cluster.apply(resource);
    const problems = [...first.problems, ...second.problems];
    const still = first.stored?.metadata.resourceVersion === second.stored?.metadata.resourceVersion;
    return still
      ? problems
      : [...problems, `${resource.kind} ${resource.metadata.name}: changed by being applied again`];
  });

/** Pods of every template: in a namespace of ours, Pod Security has its say. */
export const admitted = async (cluster: Cluster, resources: readonly Resource[]): Promise<readonly string[]> => {
  const pods = podsOf(resources);
  if (pods.length === 0) return ['there is no pod to admit'];
  return await problemsOf(pods, async (pod) => (await cluster.admit(pod)).problems);
};

/** Deletes resources, namespaces last. Those that are not there are fine. */
const removed = (cluster: Cluster, resources: readonly Resource[]): Promise<readonly string[]> => {
  const isNamespace = ({ kind }: Resource): boolean => kind === 'Namespace';
  const all = resources.toReversed();
  return problemsOf([...all.filter((one) => !isNamespace(one)), ...all.filter(isNamespace)], async (resource) => {
    return (await cluster.remove(resource)).problems;
  });
};

/** The definitions of the kinds that Kubernetes lacks, as their projects have them. */
const define = async (cluster: Cluster, files: readonly string[]): Promise<Finding> => {
  const definitions = files.flatMap((file) => parseManifests(readFileSync(file, 'utf8')));
  const problems = await problemsOf(definitions, async (definition) => (await cluster.apply(definition)).problems);
  if (problems.length > 0) return { what: 'definitions of other kinds', problems };
  const names = await problemsOf(definitions, async ({ spec }) => {
    const { group, names, versions } = spec as unknown as {
      readonly group: string;
      readonly names: { readonly kind: string };
      readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
    };
    const version = versions.find(({ storage }) => storage)?.name ?? '';
    const last = Date.now() + servedWithinMs;
    while (!(await cluster.serves(`${group}/${version}`, names.kind))) {
      if (Date.now() > last) return [`${names.kind} is not served`];
      await pause(100);
    }
    return [];
  });
  return { what: `${definitions.length} definitions of other kinds`, problems: names };
};

/** That the server refuses what it must: else its silence on our manifests would say nothing. */
const controlled = async (cluster: Cluster): Promise<Finding> => {
  const sound = parseManifests(accepted());
  const asked = async (resources: readonly Resource[]): Promise<readonly string[]> => [
    ...(await problemsOf(resources, async (resource) => (await cluster.apply(resource, true)).problems)),
    ...(await admitted(cluster, resources)),
  ];
  const before = [...(await applied(cluster, sound)), ...(await asked(sound))];
  const problems = await problemsOf(controls, async ({ title, from, to, says }) => {
    const text = accepted().replace(from, to);
    const said = await asked(parseManifests(text));
    return said.some((problem) => says.test(problem))
      ? []
      : [`${title}: not refused; ${said.join('; ') || 'nothing said'}`];
  });
  const what = `refuses or warns of ${controls.length} manifests that are wrong`;
  return { what, problems: [...before, ...problems, ...(await removed(cluster, sound))] };
};

/** Service accounts that a controller makes in each namespace; pods that name none have them. */
const defaultAccounts = (resources: readonly Resource[]): readonly Resource[] =>
  resources
    .filter(({ kind }) => kind === 'Namespace')
    .map(({ metadata: { name: namespace } }) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace },
    }));

/** Everything about one rendering, from an empty namespace to an empty namespace. */
const wrongIn = async (cluster: Cluster, { name, resources, previous }: Rendering): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  const find = (what: string, problems: readonly string[]): void => {
    findings.push({ what: `k8s/${name}: ${what}`, problems });
  };
  const accounts = defaultAccounts(resources);
  find(`${resources.length} resources accepted`, await applied(cluster, resources));
  await applied(cluster, accounts);
  find('applied again, nothing changes', await appliedAgain(cluster, resources));
  find(`pods of ${podsOf(resources).length} workloads let in`, await admitted(cluster, resources));
  find('upgrade to other images and back', [
    ...(await applied(cluster, nextRelease(resources))),
    ...(await applied(cluster, resources)),
  ]);
  find('deleted', await removed(cluster, [...resources, ...accounts]));
  if (previous === undefined) return findings;
  // What the older one had wrong is not asked here, only whether ours can follow it.
  await applied(cluster, previous.resources);
  find(`upgrade from what was there before (${previous.revision})`, await applied(cluster, resources));
  await removed(cluster, [...previous.resources, ...resources]);
  return findings;
};

/**
 * What an API server says of everything that is applied to a cluster. Warnings count as refusals.
 * @param program what tools.ts builds from infra/deploy/apiserver
 * @param definitions files of the definitions of kinds that Kubernetes lacks
 * @param scratch a folder for what it keeps
 */
export const wrongForApiServer = async (
  program: string,
  renderings: readonly Rendering[],
  definitions: readonly string[],
  scratch: string,
): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  for (const flags of emulations) {
    const server = await startApiServer(program, join(scratch, `api${flags.length}`), flags);
    const title = `Kubernetes ${[server.version, ...flags].join(' ')}`;
    try {
      const cluster = clusterOf(server.ask);
      const found = [await define(cluster, definitions), await controlled(cluster)];
      for (const rendering of renderings) found.push(...(await wrongIn(cluster, rendering)));
      findings.push(...found.map(({ what, problems }) => ({ what: `${title}: ${what}`, problems })));
    } finally {
      await server.stop();
    }
  }
  return findings;
};

import type { Answer, Ask } from './api-server.ts';
import type { Resource } from './manifests.ts';

/** What came of one request about one resource. */
export interface Outcome {
  /** Refusals and warnings, each with the kind and name of the resource. */
  readonly problems: readonly string[];
  /** What the server has now; absent when it refused. */
  readonly stored?: Stored;
}

/** The parts of a stored object that are looked at. */
export interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly generation?: number };
}

/** A pod as a controller would make it from a template, without a name: the server gives one. */
export type Pod = Pick<Resource, 'apiVersion' | 'kind' | 'spec'> & {
  readonly metadata: Pick<Resource['metadata'], 'namespace' | 'labels'> & { readonly generateName: string };
};

/** A cluster as `kubectl` sees it, for manifests whole. */
export interface Cluster {
  /** `kubectl apply --server-side`. Unknown fields are refused. @param dryRun nothing is kept, but all is decided */
  apply(resource: Resource, dryRun?: boolean): Promise<Outcome>;
  /** Asks whether a pod would be let in: Pod Security and every other admission; nothing is kept. */
  admit(pod: Pod): Promise<Outcome>;
  /** Deletes for good, which for a namespace is also what its controller would do. Absent is fine. */
  remove(resource: Resource): Promise<Outcome>;
  /** Whether a kind is served; a definition of our own is some moments after it was applied. */
  serves(apiVersion: string, kind: string): Promise<boolean>;
}

interface Kinds {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

const ok = ({ status }: Answer): boolean => status >= 200 && status < 300;
const messageOf = ({ status, body }: Answer): string =>
  // A proxy of the server, or a path that it does not have, answers in plain text.
  typeof body === 'object' && body !== null && 'message' in body
    ? String(body.message)
    : `${status} ${String(body).slice(0, 500)}`;
const outcomeFor = (title: string, answer: Answer): Outcome => {
  const warnings = answer.warnings.map((warning) => `${title}: warned: ${warning}`);
  return ok(answer)
    ? { problems: warnings, stored: answer.body as Stored }
    : { problems: [`${title}: refused: ${messageOf(answer)}`, ...warnings] };
};

/** @param ask how to reach the API server, as one who may do everything */
export const clusterOf = (ask: Ask): Cluster => {
  const known = new Map<string, NonNullable<Kinds['resources']>[number]>();
  const kindOf = async (
    apiVersion: string,
    kind: string,
  ): Promise<(Kinds['resources'] & object)[number] | undefined> => {
    const key = `${apiVersion} ${kind}`;
    const before = known.get(key);
    if (before) return before;
    const answer = await ask('GET', `${rootOf(apiVersion)}`);
    const { resources = [] } = ok(answer) ? (answer.body as Kinds) : {};
    // Others have a slash: `deployments/scale`.
    const found = resources.find(({ name, kind: one }) => one === kind && !name.includes('/'));
    if (found) known.set(key, found);
    return found;
  };
  const rootOf = (apiVersion: string): string => `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`;
  /** @throws Error when the kind is not served */
  const pathOf = async (
    { apiVersion, kind }: Pod | Resource,
    namespace = 'default',
    name?: string,
  ): Promise<string> => {
    const found = await kindOf(apiVersion, kind);
    if (!found) throw new Error(`${kind} of ${apiVersion} is not served`);
    const place = found.namespaced ? `/namespaces/${namespace}` : '';
    return `${rootOf(apiVersion)}${place}/${found.name}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
  };
  const titleOf = ({ kind, metadata: { name } }: Resource): string => `${kind} ${name}`;
  const addressOf = (resource: Resource): Promise<string> =>
    pathOf(resource, resource.metadata.namespace, resource.metadata.name);

  return {
    apply: async (resource, dryRun = false) => {
      const query = `?fieldManager=deploy-check&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`;
      return outcomeFor(titleOf(resource), await ask('PATCH', `${await addressOf(resource)}${query}`, resource));
    },
    admit: async (pod) => {
      const path = await pathOf(pod, pod.metadata.namespace);
      const answer = await ask('POST', `${path}?dryRun=All&fieldValidation=Strict`, pod);
      return outcomeFor(`Pod of ${pod.metadata.generateName.slice(0, -1)}`, answer);
    },
    remove: async (resource) => {
      const path = await addressOf(resource);
      const answer = await ask('DELETE', path, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 });
      if (answer.status === 404) return { problems: [] };
      const outcome = outcomeFor(titleOf(resource), answer);
      if (resource.kind !== 'Namespace' || outcome.problems.length > 0) return outcome;
      const { metadata, apiVersion, kind } = resource;
      const emptied = { apiVersion, kind, metadata: { name: metadata.name }, spec: { finalizers: [] } };
      return outcomeFor(titleOf(resource), await ask('PUT', `${path}/finalize`, emptied));
    },
    serves: async (apiVersion, kind) => (await kindOf(apiVersion, kind)) !== undefined,
  };
};

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: object & { readonly volumes?: readonly unknown[] };
}

const templateOf = ({ spec }: Resource): Template | undefined => {
  const job = spec?.jobTemplate as { readonly spec: { readonly template: Template } } | undefined;
  return job?.spec.template ?? spec?.template;
};

/** One pod for each template among the resources, with the volumes that a StatefulSet's claims become. */
export const podsOf = (all: readonly Resource[]): readonly Pod[] =>
  all.flatMap((resource) => {
    const template = templateOf(resource);
    if (!template) return [];
    const { name, namespace } = resource.metadata;
    const claims = (resource.spec?.volumeClaimTemplates ?? []) as readonly Pick<Resource, 'metadata'>[];
    const claimed = claims.map(({ metadata }) => ({
      name: metadata.name,
      persistentVolumeClaim: { claimName: `${metadata.name}-${name}-0` },
    }));
    const metadata = {
      ...template.metadata,
      generateName: `${name}-`,
      ...(namespace === undefined ? {} : { namespace }),
    };
    const spec = { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claimed] };
    return [{ apiVersion: 'v1', kind: 'Pod', metadata, spec }];
  });

/** A number with the suffix that quantities may have: `500m` is `0.5`. */
const quantity = (text: string): number | undefined => {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?)(m|k|Ki|M|Mi|G|Gi|T|Ti)?$/.exec(text) ?? [];
  const powers: Readonly<Record<string, number>> = {
    ...{ '': 1, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
    ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 },
  };
  const power = powers[suffix];
  return digits === undefined || power === undefined ? undefined : Number(digits) * power;
};
/** Kustomize breaks the base64 of secrets into lines; the server does not. */
const unbroken = (text: string): string => (/^[A-Za-z0-9+/=\s]+$/.test(text) ? text.replaceAll(/\s/g, '') : text);
const same = (one: unknown, other: unknown): boolean =>
  unbroken(String(one)) === String(other) ||
  (quantity(String(one)) !== undefined && quantity(String(one)) === quantity(String(other)));

/**
 * Paths of fields that were applied and are not there, or are there with another value: what a server does without a word to
 * fields that its version has switched off. Empty lists and objects may be absent.
 */
export const lost = (applied: unknown, stored: unknown, path = ''): readonly string[] => {
  if (applied === null) return [];
  if (typeof applied !== 'object') return same(applied, stored) ? [] : [path];
  const entries = Object.entries(applied);
  if (stored === undefined) return entries.length === 0 ? [] : [path];
  const inner =
    typeof stored === 'object' && stored !== null ? new Map(Object.entries(stored)) : new Map<string, unknown>();
  return entries.flatMap(([key, value]) => lost(value, inner.get(key), path === '' ? key : `${path}.${key}`));
};

const nextTag = ':99.0.0';

/** What a later release would be: the same with other images. */
export const nextRelease = (all: readonly Resource[]): readonly Resource[] =>
  all.map((resource) => {
    if (!templateOf(resource)) return resource;
    const text = JSON.stringify(resource, (key, value) =>
      key === 'image' && typeof value === 'string' ? value.replace(/(?::[^:/@]+)?(?:@.*)?$/, nextTag) : value,
    );
    return JSON.parse(text);
  });

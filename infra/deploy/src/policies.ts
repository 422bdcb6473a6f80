import { type Container, type PodSpec, type Resource, type Selector, selects } from './manifests.ts';
import type { Policy } from './policy.ts';
import { bytesOf, largestUpload, wayIn } from './way-in.ts';

interface Workload {
  readonly resource: Resource;
  readonly title: string;
  readonly pod: PodSpec;
  readonly labels: Readonly<Record<string, string>>;
  /** Of this product, not a back end from elsewhere. */
  readonly ours: boolean;
}

const workloadsOf = (all: readonly Resource[]): readonly Workload[] =>
  all.flatMap((resource) => {
    const template = resource.spec?.template;
    if (!template) return [];
    const labels = template.metadata?.labels ?? {};
    const title = `${resource.kind} ${resource.metadata.name}`;
    return [
      { resource, title, pod: template.spec, labels, ours: labels['app.kubernetes.io/component'] !== 'back-end' },
    ];
  });

/** A policy on each workload. */
const onWorkloads = (name: string, wrong: (workload: Workload) => readonly string[]): Policy => ({
  name,
  check: (all) => workloadsOf(all).flatMap((workload) => wrong(workload).map((what) => `${workload.title}: ${what}`)),
});
/** A policy on each container, those that run before included. */
const onContainers = (name: string, wrong: (container: Container, workload: Workload) => readonly string[]): Policy =>
  onWorkloads(name, (workload) =>
    [...(workload.pod.initContainers ?? []), ...workload.pod.containers].flatMap((container) =>
      wrong(container, workload).map((what) => `${container.name}: ${what}`),
    ),
  );
const unless = (good: boolean, what: string): readonly string[] => (good ? [] : [what]);

/** Longest orderly end of a process, in s (libs/distributed, `stopWithinMs`). */
const longestEnd = 25;
/**
 * Least time for a start, in s: before it listens, a release with new read models builds them from all events, and one that is
 * ended meanwhile begins anew.
 */
const leastStart = 1800;
/** Uploads for which a content replica has room at a time, and bytes that its search index may have. */
const uploadsAtOnce = 16;
const leastIndex = 2 * 1024 ** 3;
const isSecretName = (name: string): boolean =>
  /(TOKEN|KEY|PASSWORD|SECRET)$|^(MONGODB|REDIS|EVENTSTORE|SMTP)_URL$/.test(name);

/** An image by digest, or by a tag that says a whole version. */
export const isExact = (image: string): boolean => {
  const [, tag] = /:([^:/@]+)(?:@|$)/.exec(image) ?? [];
  return /@sha256:[0-9a-f]{64}$/.test(image) || /\d+\.\d+/.test(tag ?? '');
};

const ofPods: readonly Policy[] = [
  onContainers('exact-image', ({ image = '' }) => unless(isExact(image), `the image '${image}' has no exact tag`)),
  onWorkloads('not-root', ({ pod: { securityContext: context } }) =>
    unless(context?.runAsNonRoot === true && (context.runAsUser ?? 0) > 0, 'may run as root'),
  ),
  onWorkloads('seccomp', ({ pod }) =>
    unless(pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile'),
  ),
  onWorkloads('no-host', ({ pod }) => [
    ...unless(!pod.hostNetwork && !pod.hostPID && !pod.hostIPC, 'shares a namespace with the host'),
    ...(pod.volumes ?? []).filter((volume) => 'hostPath' in volume).map(() => 'mounts a folder of the host'),
  ]),
  onWorkloads('no-service-account-token', ({ pod }) =>
    unless(pod.automountServiceAccountToken === false, 'is given a token of the cluster'),
  ),
  onContainers('no-privileges', ({ securityContext: context }) => [
    ...unless(context?.allowPrivilegeEscalation === false && !context.privileged, 'may gain privileges'),
    ...unless(
      context?.capabilities?.drop?.includes('ALL') === true && !context.capabilities.add?.length,
      'keeps capabilities',
    ),
  ]),
  onContainers('read-only-root', ({ securityContext }, { ours }) =>
    unless(!ours || securityContext?.readOnlyRootFilesystem === true, 'may write to its image'),
  ),
  onContainers('resources', ({ resources }) =>
    (['requests', 'limits'] as const).flatMap((kind) =>
      ['cpu', 'memory'].flatMap((what) => unless(resources?.[kind]?.[what] !== undefined, `has no ${kind} of ${what}`)),
    ),
  ),
  onWorkloads('probes', ({ pod, ours }) =>
    pod.containers.flatMap((container) => [
      ...(['startupProbe', 'livenessProbe', 'readinessProbe'] as const).flatMap((probe) =>
        unless(container[probe] !== undefined, `${container.name} has no ${probe}`),
      ),
      ...unless(
        !ours || container.livenessProbe?.httpGet?.path === '/healthz',
        `${container.name}: liveness may touch a dependency`,
      ),
      ...unless(
        !ours || container.readinessProbe?.httpGet?.path === '/readyz',
        `${container.name}: readiness is not asked for at /readyz`,
      ),
    ]),
  ),
  onContainers('no-secret-in-the-open', ({ env = [] }) =>
    env
      .filter(({ name, value }) => value !== undefined && isSecretName(name))
      .map(({ name }) => `${name} is in the open`),
  ),
];

const ofDeployments: readonly Policy[] = [
  onWorkloads('rolling-upgrade', ({ resource, pod, ours }) => {
    if (!ours) return [];
    const sleep = pod.containers[0]?.lifecycle?.preStop?.sleep?.seconds;
    const grace = pod.terminationGracePeriodSeconds ?? 30;
    return [
      ...unless(resource.spec?.strategy?.rollingUpdate?.maxUnavailable === 0, 'a roll-out takes replicas away'),
      ...unless(sleep !== undefined, 'is told to end before others know'),
      ...unless(grace > (sleep ?? 0) + longestEnd, `has ${grace} s for ${sleep} s and an end of ${longestEnd} s`),
    ];
  }),
  onWorkloads('time-to-start', ({ resource, pod, ours }) => {
    if (!ours) return [];
    const { periodSeconds = 10, failureThreshold = 3 } = pod.containers[0]?.startupProbe ?? {};
    const start = periodSeconds * failureThreshold;
    return [
      ...unless(start >= leastStart, `is ended after ${start} s of a start that may take ${leastStart} s`),
      ...unless((resource.spec?.progressDeadlineSeconds ?? 600) > start, 'a roll-out has failed before a start has'),
    ];
  }),
  onWorkloads('room', ({ resource, pod, ours }) => {
    const limitOf = (volume: string | undefined): number =>
      bytesOf((pod.volumes ?? []).find(({ name }) => name === volume)?.emptyDir?.sizeLimit ?? '');
    const roomAt = (path: string): number =>
      limitOf(
        pod.containers.flatMap(({ volumeMounts = [] }) => volumeMounts).find((one) => one.mountPath === path)?.name,
      );
    const given = bytesOf(pod.containers[0]?.resources?.limits?.['ephemeral-storage'] ?? '');
    const needed = (pod.volumes ?? [])
      .filter(({ emptyDir }) => emptyDir !== undefined)
      .reduce((sum, { name }) => sum + limitOf(name), 0);
    const content = resource.metadata.name === 'content';
    return [
      ...unless(!ours || given >= needed, 'its volumes may hold more than it is given of the disk, or have no limit'),
      ...unless(!content || roomAt('/tmp') >= uploadsAtOnce * largestUpload, `no room for ${uploadsAtOnce} uploads`),
      ...unless(!content || roomAt('/var/lib/bindery') >= leastIndex, 'no room for its search index'),
    ];
  }),
  onWorkloads('spread', ({ pod, ours }) =>
    ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].flatMap((key) =>
      unless(
        !ours || pod.topologySpreadConstraints?.some(({ topologyKey }) => topologyKey === key) === true,
        `is not spread over ${key}`,
      ),
    ),
  ),
];

/** What only matters where several replicas run. */
const highAvailability: Policy = {
  name: 'high-availability',
  check: (all) =>
    workloadsOf(all)
      .filter(({ resource: { kind } }) => kind === 'Deployment')
      .flatMap(({ title, resource, labels }) => {
        const budgets = all.filter(
          ({ kind, spec }) => kind === 'PodDisruptionBudget' && selects((spec?.selector ?? {}) as Selector, labels),
        );
        const scalers = all.filter(
          ({ kind, spec }) =>
            ['HorizontalPodAutoscaler', 'ScaledObject'].includes(kind) &&
            spec?.scaleTargetRef?.name === resource.metadata.name,
        );
        const least = scalers.map(({ spec }) => spec?.minReplicas ?? spec?.minReplicaCount ?? 1);
        const waysDown = scalers.map(
          ({ spec }) =>
            (spec?.behavior ?? spec?.advanced?.horizontalPodAutoscalerConfig?.behavior)?.scaleDown?.policies,
        );
        return [
          ...unless(budgets.length === 1, `${title}: has ${budgets.length} disruption budgets`),
          ...unless(scalers.length === 1, `${title}: has ${scalers.length} autoscalers`),
          ...unless(
            least.every((count) => count >= 2),
            `${title}: may be left with one replica`,
          ),
          ...unless(
            waysDown.every((ways) => ways?.some(({ type, value }) => type === 'Pods' && value === 1) === true),
            `${title}: may lose several replicas at once`,
          ),
          ...unless(resource.spec?.replicas === undefined, `${title}: every apply would undo the autoscaler`),
        ];
      }),
};

const networks: Policy = {
  name: 'network-policies',
  check: (all) => {
    const policies = all.filter(({ kind }) => kind === 'NetworkPolicy');
    const isDeny = ({ spec }: Resource): boolean =>
      Object.keys(spec?.podSelector ?? {}).length === 0 &&
      ['Ingress', 'Egress'].every((type) => spec?.policyTypes?.includes(type)) &&
      spec?.ingress === undefined &&
      spec?.egress === undefined;
    return [
      ...unless(policies.some(isDeny), 'nothing is denied by default'),
      ...workloadsOf(all).flatMap(({ title, labels }) =>
        unless(
          policies.some(
            ({ spec }) => spec?.podSelector?.matchLabels !== undefined && selects(spec.podSelector, labels),
          ),
          `${title}: no policy says who reaches it`,
        ),
      ),
      // An empty peer list is everybody.
      ...policies.flatMap(({ metadata, spec }) =>
        [spec?.ingress, spec?.egress]
          .flat()
          .filter((rule) => typeof rule === 'object' && rule !== null && !('from' in rule) && !('to' in rule))
          .map(() => `NetworkPolicy ${metadata.name}: a rule is for everybody`),
      ),
    ];
  },
};

const restricted: Policy = {
  name: 'pod-security',
  check: (all) =>
    all
      .filter(({ kind }) => kind === 'Namespace')
      .flatMap(({ metadata: { name, labels } }) =>
        unless(labels?.['pod-security.kubernetes.io/enforce'] === 'restricted', `Namespace ${name}: is not restricted`),
      ),
};

/** What is named is there: configuration, secrets, service accounts, pods behind services. */
const references: Policy = {
  name: 'references',
  check: (all) => {
    const has = (kind: string, name: string): boolean =>
      all.some((one) => one.kind === kind && one.metadata.name === name);
    const secret = (name: string): boolean =>
      has('Secret', name) || all.some(({ kind, spec }) => kind === 'ExternalSecret' && spec?.target?.name === name);
    const workloads = workloadsOf(all);
    return [
      ...workloads.flatMap(({ title, pod }) => [
        ...unless(
          pod.serviceAccountName === undefined || has('ServiceAccount', pod.serviceAccountName),
          `${title}: no service account`,
        ),
        ...(pod.volumes ?? []).flatMap(({ configMap }) =>
          unless(!configMap || has('ConfigMap', configMap.name), `${title}: no ConfigMap ${configMap?.name}`),
        ),
        ...pod.containers
          .flatMap(({ envFrom = [] }) => envFrom)
          .flatMap(({ configMapRef, secretRef }) => [
            ...unless(
              !configMapRef || has('ConfigMap', configMapRef.name),
              `${title}: no ConfigMap ${configMapRef?.name}`,
            ),
            ...unless(!secretRef || secret(secretRef.name), `${title}: no Secret ${secretRef?.name}`),
          ]),
      ]),
      ...all
        .filter(({ kind, spec }) => kind === 'Service' && spec?.selector !== undefined)
        .flatMap(({ metadata, spec }) => {
          const behind = workloads.filter(({ labels }) =>
            selects({ matchLabels: spec?.selector as Record<string, string> }, labels),
          );
          const named = behind
            .flatMap(({ pod }) => pod.containers)
            .flatMap(({ ports = [] }) => ports.map(({ name }) => name));
          return [
            ...unless(behind.length === 1, `Service ${metadata.name}: ${behind.length} workloads stand behind it`),
            ...(spec?.ports ?? []).flatMap(({ targetPort, port }) =>
              unless(
                targetPort === undefined || named.includes(String(targetPort)),
                `Service ${metadata.name}: nobody has port ${targetPort ?? port}`,
              ),
            ),
          ];
        }),
    ];
  },
};

const emptyLists = (value: unknown, path: string): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value) && value.length === 0) return [path];
  return Object.entries(value).flatMap(([key, inner]) => emptyLists(inner, `${path}.${key}`));
};

/** API servers forget an empty list that they were given: who applies the same again, changes it, each time anew. */
const noEmptyLists: Policy = {
  name: 'no-empty-lists',
  check: (all) =>
    all.flatMap(({ kind, metadata: { name }, spec }) =>
      emptyLists(spec, 'spec').map((path) => `${kind} ${name}: ${path} is better left out than empty`),
    ),
};

/** Where people's data is: secrets come by reference alone. */
const noSecrets: Policy = {
  name: 'secrets-by-reference',
  check: (all) =>
    all.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => `Secret ${metadata.name}: is in the repository`),
};

/** For every overlay. */
export const policies: readonly Policy[] = [
  ...ofPods,
  ...ofDeployments,
  networks,
  restricted,
  references,
  wayIn,
  noEmptyLists,
];
/** For those that are meant for production. */
export const productionPolicies: readonly Policy[] = [...policies, highAvailability, noSecrets];

/** What a policy finds, with its name. */
export const brokenRules = (policy: Policy, all: readonly Resource[]): readonly string[] =>
  policy.check(all).map((what) => `${policy.name}: ${what}`);

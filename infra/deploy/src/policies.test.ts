import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseManifests, type Resource } from './manifests.ts';
import { brokenRules, isExact, productionPolicies } from './policies.ts';
import { bytesOf, secondsOf } from './way-in.ts';

const sound = readFileSync(new URL('./fixtures/sound.yaml', import.meta.url), 'utf8');
const broken = (text: string): readonly string[] => {
  const all: readonly Resource[] = parseManifests(text);
  return productionPolicies.flatMap((policy) => brokenRules(policy, all));
};

test('sound manifests break no policy', () => {
  expect(broken(sound)).toEqual([]);
});

/** The sound manifests, of the content service. */
const asContent = (text: string): string => text.replace(/: gateway(?=[ \n])/g, ': content');

/** One change to the sound manifests each, and the policies that must say so: exactly these. */
const changes: readonly (readonly [
  title: string,
  from: string | RegExp,
  to: string,
  broken: readonly string[],
  further?: (text: string) => string,
])[] = [
  ['a moving tag', 'bindery/gateway:0.1.0', 'bindery/gateway:latest', ['exact-image']],
  ['no tag', 'bindery/gateway:0.1.0', 'bindery/gateway', ['exact-image']],
  ['root allowed', 'runAsNonRoot: true', 'runAsNonRoot: false', ['not-root']],
  ['root', 'runAsUser: 10001', 'runAsUser: 0', ['not-root']],
  ['no seccomp profile', 'type: RuntimeDefault', 'type: Unconfined', ['seccomp']],
  ['the network of the host', 'enableServiceLinks: false', 'hostNetwork: true', ['no-host']],
  ['a folder of the host', 'emptyDir: { sizeLimit: 2Gi }', 'hostPath: { path: /etc }', ['no-host']],
  ['a token', 'automountServiceAccountToken: false # pod', '', ['no-service-account-token']],
  ['privileges', 'allowPrivilegeEscalation: false', 'allowPrivilegeEscalation: true', ['no-privileges']],
  [
    'privileged',
    'allowPrivilegeEscalation: false',
    'allowPrivilegeEscalation: false\n            privileged: true',
    ['no-privileges'],
  ],
  ['capabilities kept', 'drop: [ALL]', 'drop: [NET_RAW]', ['no-privileges']],
  ['capabilities added', 'drop: [ALL]', 'drop: [ALL]\n              add: [SYS_ADMIN]', ['no-privileges']],
  ['a writable image', 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false', ['read-only-root']],
  ['no limit of memory', 'memory: 512Mi, ', '', ['resources']],
  ['no requests', 'requests: { cpu: 250m, memory: 256Mi }', '', ['resources', 'resources']],
  ['no startup probe', /startupProbe.*/, '', ['probes', 'time-to-start']],
  ['no readiness probe', /readinessProbe.*/, '', ['probes', 'probes']],
  [
    'liveness that touches a dependency',
    'livenessProbe: { httpGet: { path: /healthz',
    'livenessProbe: { httpGet: { path: /readyz',
    ['probes'],
  ],
  ['a secret in the open', 'name: LEVEL', 'name: SERVICE_TOKEN', ['no-secret-in-the-open']],
  ['replicas taken away', 'maxUnavailable: 0', 'maxUnavailable: 1', ['rolling-upgrade']],
  ['no sleep before the end', /lifecycle.*/, '', ['rolling-upgrade']],
  [
    'killed before the end',
    'terminationGracePeriodSeconds: 40',
    'terminationGracePeriodSeconds: 30',
    ['rolling-upgrade'],
  ],
  ['one zone', 'topologyKey: topology.kubernetes.io/zone', 'topologyKey: example.com/rack', ['spread']],
  ['no disruption budget', 'kind: PodDisruptionBudget', 'kind: Nothing', ['high-availability']],
  ['no autoscaler', 'kind: HorizontalPodAutoscaler', 'kind: Nothing', ['high-availability']],
  ['one replica', 'minReplicas: 2', 'minReplicas: 1', ['high-availability']],
  ['a number of replicas', 'strategy:', 'replicas: 3\n  strategy:', ['high-availability']],
  ['nothing denied', 'podSelector: {}', 'podSelector: { matchLabels: { a: b } }', ['network-policies']],
  [
    'nobody says who reaches it',
    'matchLabels: { app: gateway } # policy',
    'matchLabels: { app: other }',
    ['network-policies'],
  ],
  ['an empty list', 'policyTypes: [Ingress]', 'policyTypes: [Ingress]\n  egress: []', ['no-empty-lists']],
  ['everybody', '- from: [{ podSelector: {} }]', '- ports: [{ port: 80 }]', ['network-policies']],
  ['an open namespace', 'enforce: restricted', 'enforce: baseline', ['pod-security']],
  ['no configuration', 'kind: ConfigMap', 'kind: Nothing', ['references']],
  ['no secret', 'kind: ExternalSecret', 'kind: Nothing', ['references']],
  ['no service account', 'kind: ServiceAccount', 'kind: Nothing', ['references']],
  [
    'nobody behind a service',
    'selector: { app: gateway } # service',
    'selector: { app: other }',
    ['references', 'references'],
  ],
  ['a port that nobody has', 'targetPort: http', 'targetPort: grpc', ['references']],
  ['a secret in the repository', 'kind: ExternalSecret', 'kind: Secret', ['secrets-by-reference']],
  ['an end in the middle of a start', 'failureThreshold: 1800', 'failureThreshold: 90', ['time-to-start']],
  ['a roll-out that fails first', 'progressDeadlineSeconds: 3900', '', ['time-to-start']],
  ['a disk that does not hold its volumes', 'ephemeral-storage: 5Gi', 'ephemeral-storage: 2Gi', ['room']],
  ['volumes without a limit', '{ sizeLimit: 2Gi }', '{}', ['room']],
  ['content without room for uploads', '{ sizeLimit: 1Gi }', '{ sizeLimit: 64Mi }', ['room'], asContent],
  ['content without room for its index', '{ sizeLimit: 2Gi }', '{ sizeLimit: 256Mi }', ['room'], asContent],
  ['content that writes into its image', 'mountPath: /tmp', 'mountPath: /scratch', ['room'], asContent],
  ['replicas lost at once', 'type: Pods, value: 1', 'type: Percent, value: 100', ['high-availability']],
  ['an answer cut short', 'proxy-read-timeout: "660"', 'proxy-read-timeout: "60"', ['way-in']],
  ['a body cut short', 'proxy-send-timeout: "660"', '', ['way-in']],
  ['an upload refused', 'proxy-body-size: 32m', 'proxy-body-size: 8m', ['way-in']],
  ['metrics with a slash', '/metrics, pathType: Prefix', '/metrics, pathType: Exact', ['way-in']],
  ['a route cut short', 'timeouts: { request: 11m }', 'timeouts: { request: 60s }', ['way-in']],
  ['a route without a time', 'timeouts: { request: 11m }', '', ['way-in']],
  ['a route to metrics', 'type: PathPrefix, value: /metrics', 'type: Exact, value: /metrics', ['way-in']],
  [
    'an authority that nobody makes',
    'emptyDir: { sizeLimit: 2Gi }',
    'configMap: { name: authorities }',
    ['references'],
  ],
];

describe('a policy is broken by', () => {
  test.each(changes)('%s', (_title, from, to, names, further = (text) => text) => {
    const changed = further(sound.replace(from, to));
    expect(changed).not.toBe(sound);
    expect(broken(changed).map((problem) => problem.slice(0, problem.indexOf(':')))).toEqual(names);
  });

  test('no policy is without such a change', () => {
    const tried = new Set(changes.flatMap(([, , , names]) => names));
    expect(productionPolicies.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
  });
});

test('sound manifests of the content service break none either', () => {
  expect(broken(asContent(sound))).toEqual([]);
});

test.each([
  ['32m', 33_554_432],
  ['1Gi', 1_073_741_824],
  ['7', 7],
  ['much', Number.NaN],
])('%s are %d bytes', (text, bytes) => {
  expect(bytesOf(text)).toBe(bytes);
});

test.each([
  ['660', 660],
  ['11m', 660],
  ['1h2m3.5s', 3723.5],
  ['500ms', 0.5],
  ['long', Number.NaN],
])('%s are %d seconds', (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds);
});

test.each([
  ['node:24.21.0-bookworm-slim', true],
  ['registry:5000/a/b:1.2', true],
  [`a/b@sha256:${'0'.repeat(64)}`, true],
  ['registry:5000/a/b', false],
  ['mongo:8', false],
  ['a/b:stable', false],
  ['a/b@sha256:short', false],
])('%s is exact: %s', (image, exact) => {
  expect(isExact(image)).toBe(exact);
});

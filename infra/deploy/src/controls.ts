import { readFileSync } from 'node:fs';

/** One change that makes sound manifests wrong, and what the API server must then say of at least one of them. */
export interface Control {
  readonly title: string;
  readonly from: string | RegExp;
  readonly to: string;
  readonly says: RegExp;
}

/** The text of the sound ones. */
export const accepted = (): string => readFileSync(new URL('./fixtures/accepted.yaml', import.meta.url), 'utf8');

const podSecurity = /^Pod of gateway: refused: .*violates PodSecurity "restricted/;
const control = (title: string, from: string | RegExp, to: string, says: RegExp): Control => ({
  title,
  from,
  to,
  says,
});

/** At least one for each thing that is asked of an API server: Pod Security, what may not change, rules of kinds, warnings. */
export const controls: readonly Control[] = [
  control('root allowed', 'runAsNonRoot: true', 'runAsNonRoot: false', podSecurity),
  control('root', 'runAsUser: 10001', 'runAsUser: 0', podSecurity),
  control('no seccomp profile', 'type: RuntimeDefault', 'type: Unconfined', podSecurity),
  control('privileges', 'allowPrivilegeEscalation: false', 'allowPrivilegeEscalation: true', podSecurity),
  control('capabilities kept', 'drop: [ALL]', 'drop: [NET_RAW]', podSecurity),
  control('the network of the host', 'enableServiceLinks: false', 'hostNetwork: true', podSecurity),
  control('a folder of the host', 'emptyDir: {}', 'hostPath: { path: /etc }', podSecurity),
  control(
    'a workload whose pods would be refused',
    'runAsNonRoot: true',
    'runAsNonRoot: false',
    /^Deployment gateway: warned: would violate PodSecurity/,
  ),
  control(
    'a service account that is not there',
    'serviceAccountName: gateway',
    'serviceAccountName: nobody',
    /^Pod of gateway: refused: .*serviceaccount "nobody" not found/,
  ),
  control(
    'a field that is not there',
    'enableServiceLinks',
    'enableServiceLink',
    /^Deployment gateway: refused: .*enableServiceLink/,
  ),
  control(
    'a label of nodes that is gone',
    'kubernetes.io/os:',
    'beta.kubernetes.io/os:',
    /^Deployment gateway: warned: .*deprecated/,
  ),
  control(
    'more asked for than allowed',
    'requests: { memory: 256Mi }',
    'requests: { memory: 1Gi }',
    /^Deployment gateway: refused: .*less than or equal/,
  ),
  control(
    'a volume that is not there',
    'volumeMounts: [{ name: scratch',
    'volumeMounts: [{ name: other',
    /^Deployment gateway: refused: .*Not found/,
  ),
  control(
    'another selector',
    /app: gateway/g,
    'app: other',
    /^Deployment gateway: refused: .*spec.selector.*immutable/,
  ),
  control(
    'labels that the selector does not take',
    'labels: { app: gateway }',
    'labels: { app: other }',
    /^Deployment gateway: refused: .*selector. does not match/,
  ),
  control(
    'another size of a claim',
    'storage: 10Gi',
    'storage: 20Gi',
    /^StatefulSet mongodb: refused: .*spec.volumeClaimTemplates.*immutable/,
  ),
  control(
    'another service of a StatefulSet',
    'serviceName: mongodb',
    'serviceName: other',
    /^StatefulSet mongodb: refused: .*spec.serviceName.*immutable/,
  ),
  control(
    'a service that gets an address',
    'clusterIP: None',
    'clusterIP: 10.96.0.77',
    /^Service gateway: refused: .*may not change once set/,
  ),
  control(
    'two kinds of budget',
    'maxUnavailable: 1\n',
    'maxUnavailable: 1\n  minAvailable: 1\n',
    /^PodDisruptionBudget gateway: refused: .*cannot be both set/,
  ),
  control(
    'fewer at most than at least',
    'maxReplicas: 4',
    'maxReplicas: 1',
    /^HorizontalPodAutoscaler gateway: refused: .*greater than or equal/,
  ),
  control(
    'an exception outside of the network',
    'cidr: 0.0.0.0/0',
    'cidr: 192.168.0.0/16',
    /^NetworkPolicy gateway: refused: .*strict subset/,
  ),
  control('a path without a slash', 'path: /\n', 'path: docs\n', /^Ingress bindery: refused: .*absolute path/),
  control(
    'a rule of the Gateway API, in CEL',
    'backendRequest: 50s',
    'backendRequest: 70s',
    /^HTTPRoute bindery: refused: .*backendRequest timeout cannot be longer/,
  ),
];

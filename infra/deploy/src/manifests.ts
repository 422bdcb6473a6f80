import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { outcomeOf, run } from './run.ts';
import { kubernetesVersions } from './schemas.ts';
import { root, type Tools } from './tools.ts';

/** What is built and checked: every folder of k8s/ that somebody applies. */
export const overlays = [
  'overlays/development',
  'overlays/production',
  'examples/autoscaling-and-gateway-api',
  'examples/rotation',
  'examples/private-authority',
] as const;

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly envFrom?: readonly { readonly configMapRef?: Named; readonly secretRef?: Named }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly resources?: Readonly<Record<'requests' | 'limits', Readonly<Record<string, string>> | undefined>>;
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly privileged?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
}

export interface Probe {
  readonly httpGet?: { readonly path: string };
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
}

/** How an autoscaler takes replicas away. */
interface Scaling {
  readonly scaleDown?: { readonly policies?: readonly { readonly type: string; readonly value: number }[] };
}

interface Named {
  readonly name: string;
}

/** The fields of a pod that policies look at. */
export interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly serviceAccountName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[];
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: { readonly type: string };
  };
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly {
    readonly [kind: string]: unknown;
    readonly name: string;
    readonly emptyDir?: { readonly sizeLimit?: string };
    readonly configMap?: Named;
  }[];
}

type Labels = Readonly<Record<string, string>>;

/** The fields of a resource that policies look at; what is not there is undefined. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
  readonly data?: Labels;
  readonly spec?: {
    readonly [key: string]: unknown;
    readonly selector?: unknown;
    readonly template?: { readonly metadata?: { readonly labels?: Labels }; readonly spec: PodSpec };
    readonly progressDeadlineSeconds?: number;
    readonly behavior?: Scaling;
    readonly advanced?: { readonly horizontalPodAutoscalerConfig?: { readonly behavior?: Scaling } };
    readonly strategy?: { readonly rollingUpdate?: { readonly maxUnavailable?: number | string } };
    readonly policyTypes?: readonly string[];
    readonly podSelector?: Selector;
    readonly minReplicas?: number;
    readonly minReplicaCount?: number;
    readonly scaleTargetRef?: Named;
    readonly ports?: readonly { readonly targetPort?: string | number; readonly port: number }[];
    readonly target?: Named;
    readonly ingress?: unknown;
    readonly egress?: unknown;
  };
}

/** Of labels, as Kubernetes has it. Empty means everything. */
export interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Whether a selector takes labels. @throws Error at an operator that no manifest of ours uses */
export const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => {
    if (operator !== 'In') throw new Error(`operator ${operator} is not understood`);
    return values.includes(labels[key] ?? '');
  });

/** The resources of a text of several documents. */
export const parseManifests = (text: string): readonly Resource[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((value) => value !== null);

/** Reads a file of the repository. */
export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** What `kubectl apply -k` would send. */
export const build = (tools: Tools, folder: string): Promise<string> =>
  run(tools.kustomize, ['build', join(root, 'k8s', folder)]);

/**
 * Checks files of manifests against the schemas of each version, all at once: compiling the schemas is what takes the time.
 * @returns what is wrong, by file; every kind must have a schema
 */
export const invalid = async (
  tools: Tools,
  locations: readonly string[],
  files: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const problems = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const version of kubernetesVersions) {
    const { code, stdout, stderr } = await outcomeOf(tools.kubeconform, [
      ...['-strict', '-output', 'json', '-kubernetes-version', version],
      ...locations.flatMap((location) => ['-schema-location', location]),
      ...files,
    ]);
    if (code === 0) continue;
    if (!stdout.startsWith('{')) throw new Error(`kubeconform: ${stderr}`);
    const found: readonly Finding[] = JSON.parse(stdout).resources;
    for (const { filename, kind, name, msg } of found)
      problems.get(filename)?.push(`Kubernetes ${version}: ${kind} ${name}: ${msg}`);
  }
  return problems;
};

interface Finding {
  readonly filename: string;
  readonly kind: string;
  readonly name: string;
  readonly msg: string;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isExact } from './policies.ts';
import { processes, wrongSettings } from './settings.ts';
import { secondsOf } from './way-in.ts';

/** A service of a compose project, as its loader resolves it. */
export interface ComposeService {
  readonly image?: string;
  readonly build?: unknown;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly start_period?: string };
  readonly deploy?: { readonly resources?: { readonly limits?: { readonly cpus?: number; readonly memory?: string } } };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly ports?: readonly { readonly host_ip?: string }[];
  readonly volumes?: readonly { readonly type: string; readonly source?: string; readonly target: string }[];
}

export interface ComposeProject {
  readonly services: Readonly<Record<string, ComposeService>>;
}

/** Their images have neither shell nor client to ask with; nothing waits for them to be healthy. */
const withoutHealthCheck = ['collector', 'jaeger'];
/** In s; longer than the orderly end of our processes. */
const leastGrace = 30;
/** Time for a first start on a slow machine, in s; what is unhealthy before ends `docker compose up`. */
const leastStart = 180;

/** Whether a folder is on a disk: one of memory counts against the limit and is small. */
const isOnDisk = ({ volumes = [] }: ComposeService, folder: string): boolean =>
  volumes.some(({ type, target }) => type === 'volume' && (folder === target || folder.startsWith(`${target}/`)));

/** @returns what is wrong with a project. @param folder of the compose file */
export const wrongInCompose = ({ services }: ComposeProject, folder: string): readonly string[] =>
  Object.entries(services).flatMap(([name, service]) => {
    const ours = name in processes;
    const limits = service.deploy?.resources?.limits;
    const once = service.restart === 'no';
    const environment = definedOf(service.environment);
    const health = service.healthcheck;
    const heap = environment.KAFKA_HEAP_OPTS !== undefined;
    const rules: readonly (readonly [boolean, string])[] = [
      [isExact(service.image ?? ''), `the image '${service.image}' has no exact tag`],
      [limits?.cpus !== undefined && limits.memory !== undefined, 'has no limits'],
      // Those of ours too: images in OCI's format lose theirs.
      [once || health !== undefined || withoutHealthCheck.includes(name), 'has no health check'],
      [!ours || secondsOf(health?.start_period ?? '0') >= leastStart, `must start in less than ${leastStart} s`],
      [
        !heap || health?.test?.some((line) => line.startsWith('KAFKA_HEAP_OPTS=')) === true,
        'asks for its health with a second heap as large as its own',
      ],
      [name !== 'content' || isOnDisk(service, environment.TMPDIR ?? '/tmp'), 'keeps uploads in memory'],
      [!ours || service.build !== undefined, 'cannot be built'],
      [!ours || service.read_only === true, 'may write to its image'],
      [!ours || service.cap_drop?.includes('ALL') === true, 'keeps capabilities'],
      [!ours || service.security_opt?.includes('no-new-privileges:true') === true, 'may gain privileges'],
      [
        !ours || Number.parseInt(service.stop_grace_period ?? '10', 10) > leastGrace,
        'is killed before its orderly end',
      ],
      [!ours || service.depends_on?.preflight !== undefined, 'starts without the preflight'],
      [service.ports?.every(({ host_ip }) => host_ip === '127.0.0.1') ?? true, 'listens to other machines'],
    ];
    return [
      ...rules.filter(([good]) => !good).map(([, what]) => what),
      ...(service.volumes ?? [])
        .filter(({ type, source }) => type === 'bind' && !existsSync(join(folder, source ?? '')))
        .map(({ source }) => `mounts ${source}, which is not there`),
      ...Object.entries(service.depends_on ?? {})
        .filter(([on, { condition }]) => condition === 'service_healthy' && withoutHealthCheck.includes(on))
        .map(([on]) => `waits for the health of ${on}, which has none`),
      ...(ours ? wrongSettings(name, environment) : []),
    ].map((what) => `${name}: ${what}`);
  });

const definedOf = (environment: ComposeService['environment'] = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));

import type { Resource } from './manifests.ts';
import type { Environment } from './settings.ts';

/** Values for secrets that are elsewhere, of the right form. */
const anySecret: Environment = {
  SERVICE_TOKEN: 'x'.repeat(40),
  SERVICE_TOKENS_ACCEPTED: 'y'.repeat(40),
  MONGODB_URL: 'mongodb://user:password@mongodb.example.com:27017/?tls=true',
  REDIS_URL: 'rediss://:password@redis.example.com:6380/0',
  MASTER_KEY: '0'.repeat(64),
  MASTER_KEY_PREVIOUS: '1'.repeat(64),
  EVENTSTORE_URL: 'esdb+discover://user:password@events.example.com:2113?tls=true',
  KAFKA_SASL_USERNAME: 'bindery',
  KAFKA_SASL_PASSWORD: 'password',
  BINDERY_BOOTSTRAP_TOKEN: `bnd_pat_${'x'.repeat(30)}`,
  SMTP_URL: 'smtps://user:password@mail.example.com',
  S3_ACCESS_KEY_ID: 'key',
  S3_SECRET_ACCESS_KEY: 'secret',
};

const fromBase64 = (data: Environment = {}): Environment =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));

/** What a Secret, or what an ExternalSecret makes, has in it. */
const secretData = (all: readonly Resource[], name: string): Environment => {
  const secret = all.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name);
  if (secret) return fromBase64(secret.data);
  const external = all.find(({ kind, spec }) => kind === 'ExternalSecret' && spec?.target?.name === name);
  const entries = (external?.spec?.data ?? []) as readonly { readonly secretKey: string }[];
  return Object.fromEntries(entries.map(({ secretKey }) => [secretKey, anySecret[secretKey] ?? 'unknown']));
};

/** The environment that each Deployment gives its process, by name. */
export const environmentsOf = (all: readonly Resource[]): ReadonlyMap<string, Environment> =>
  new Map(
    all
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata, spec }) => {
        const environment: Record<string, string> = {};
        for (const { env = [], envFrom = [] } of spec?.template?.spec.containers ?? []) {
          for (const { configMapRef, secretRef } of envFrom) {
            const map = all.find((one) => one.kind === 'ConfigMap' && one.metadata.name === configMapRef?.name);
            Object.assign(environment, map?.data, secretRef && secretData(all, secretRef.name));
          }
          for (const { name, value } of env) if (value !== undefined) environment[name] = value;
        }
        return [metadata.name, environment];
      }),
  );

import { readFileSync } from 'node:fs';
import type { KafkaConfig, SASLOptions } from 'kafkajs';

type Environment = Readonly<Record<string, string | undefined>>;

/** A setting is missing or wrong; the message names it. */
export class WrongSetting extends Error {}

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

const pem = (name: string, path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new WrongSetting(`${name}: ${path} cannot be read: ${String(error)}`);
  }
};

const tls = (env: Environment): KafkaConfig['ssl'] => {
  if (env.KAFKA_SSL !== 'true') return false;
  const { KAFKA_SSL_CA_FILE: ca, KAFKA_SSL_CERTIFICATE_FILE: cert, KAFKA_SSL_KEY_FILE: key } = env;
  return {
    ...(ca ? { ca: pem('KAFKA_SSL_CA_FILE', ca) } : {}),
    ...(cert ? { cert: pem('KAFKA_SSL_CERTIFICATE_FILE', cert) } : {}),
    ...(key ? { key: pem('KAFKA_SSL_KEY_FILE', key) } : {}),
  };
};

/**
 * How to reach the brokers, from the variables that Bindery itself has for it.
 * @throws WrongSetting
 */
export const connectionOf = (env: Environment): Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl'> => {
  const brokers = (env.KAFKA_BROKERS ?? '').split(',').map((each) => each.trim());
  if (brokers.includes(''))
    throw new WrongSetting('KAFKA_BROKERS: is required: host:port, several separated by commas');
  const connection = { brokers, ssl: tls(env) ?? false };
  if (!env.KAFKA_SASL_MECHANISM) return connection;
  const mechanism = mechanisms.find((each) => each === env.KAFKA_SASL_MECHANISM);
  if (mechanism === undefined) throw new WrongSetting(`KAFKA_SASL_MECHANISM: is one of ${mechanisms.join(', ')}`);
  const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = env;
  if (!(username && password))
    throw new WrongSetting('KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD: are needed with KAFKA_SASL_MECHANISM');
  const sasl = { mechanism, username, password } as SASLOptions;
  return { ...connection, sasl };
};

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { MessageBus } from '@bindery/message-bus';
import {
  isClosedAtOnce,
  KafkaRefusal,
  openKafkaMessageBus,
  type RefusalReason,
  refusalOf,
} from '@bindery/message-bus/kafka';
import { ConfigError, type ConfigOf, commaSeparated } from '@bindery/service-kit';
import type { Starting } from './run-process.ts';
import type { kafkaSettings } from './settings.ts';

type KafkaSettings = ConfigOf<typeof kafkaSettings>;

/** How long a start waits for the brokers, in ms: a refusal comes at once, and without brokers the process serves all the same. */
const REACH_MS = 5000;

const wrong = (text: string, cause?: unknown): ConfigError => new ConfigError(`Configuration: ${text}`, { cause });

/** Which settings a refusal is about, and what may be wrong with them. */
const ADVICE: Readonly<Record<RefusalReason, string>> = {
  credentials: 'KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD: the brokers do not accept this user with this password',
  mechanism: 'KAFKA_SASL_MECHANISM: the brokers do not offer this mechanism at the ports in KAFKA_BROKERS',
  certificate: 'KAFKA_SSL_CA_FILE: the certificate of a broker is not to be trusted',
  'client-certificate':
    'KAFKA_SSL_CERTIFICATE_FILE, KAFKA_SSL_KEY_FILE: the brokers want a certificate, and do not accept this one or none',
  'no-tls': 'KAFKA_SSL: the brokers do not speak TLS at the ports in KAFKA_BROKERS',
  replication: 'KAFKA_REPLICATION_FACTOR: there are fewer brokers than copies',
  authorization: 'KAFKA_SASL_USERNAME: the brokers do not let this user do that',
};

/** Not a refusal for certain: a broker that ends does so too. */
const CLOSED =
  'KAFKA_SSL, KAFKA_SASL_MECHANISM: a broker takes the connection and closes it at once, as it does when it wants or lacks TLS, or wants a user';

/** The text of a PEM file. @throws ConfigError naming the setting */
const pemOf = async (name: string, file: string, check: (text: string) => unknown): Promise<string> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw wrong(`${name}: ${file} cannot be read: ${Object(error).code ?? String(error)}`, error);
  }
  try {
    check(text);
  } catch (error) {
    throw wrong(`${name}: ${file} is not what it should be: ${Object(error).code ?? 'no PEM'}`, error);
  }
  return text;
};

const certificates = (text: string): readonly X509Certificate[] => {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (blocks === null) throw new Error('there is no certificate in it');
  return blocks.map((block) => new X509Certificate(block));
};

const tlsOf = async (settings: KafkaSettings) => {
  const {
    KAFKA_SSL: ssl,
    KAFKA_SSL_CA_FILE: caFile,
    KAFKA_SSL_CERTIFICATE_FILE: certificateFile,
    KAFKA_SSL_KEY_FILE: keyFile,
  } = settings;
  if (!ssl) {
    const given = [
      ['KAFKA_SSL_CA_FILE', caFile],
      ['KAFKA_SSL_CERTIFICATE_FILE', certificateFile],
      ['KAFKA_SSL_KEY_FILE', keyFile],
    ].find(([, file]) => file !== undefined);
    if (given !== undefined) throw wrong(`${given[0]}: is of no use without KAFKA_SSL=true`);
    return false;
  }
  if ((certificateFile === undefined) !== (keyFile === undefined))
    throw wrong('KAFKA_SSL_CERTIFICATE_FILE, KAFKA_SSL_KEY_FILE: one needs the other');
  const ca = caFile === undefined ? {} : { ca: await pemOf('KAFKA_SSL_CA_FILE', caFile, certificates) };
  if (certificateFile === undefined || keyFile === undefined) return ca;
  const cert = await pemOf('KAFKA_SSL_CERTIFICATE_FILE', certificateFile, certificates);
  const key = await pemOf('KAFKA_SSL_KEY_FILE', keyFile, createPrivateKey);
  if (certificates(cert)[0]?.checkPrivateKey(createPrivateKey(key)) !== true)
    throw wrong('KAFKA_SSL_KEY_FILE: is not the key of KAFKA_SSL_CERTIFICATE_FILE');
  return { ...ca, cert, key };
};

const saslOf = (settings: KafkaSettings) => {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = settings;
  if (mechanism === undefined) return {};
  if (username === undefined || password === undefined)
    throw wrong('KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD: are needed with KAFKA_SASL_MECHANISM');
  return { sasl: { mechanism, username, password } };
};

/**
 * The bus of a service. Brokers that are away are waited for while the process serves; brokers that refuse end the start.
 * @throws ConfigError naming the setting that is wrong
 */
export const openKafka = async (
  service: string,
  settings: KafkaSettings,
  { telemetry: { logger }, clock, keep }: Pick<Starting<never>, 'telemetry' | 'clock' | 'keep'>,
): Promise<MessageBus> => {
  const sasl = saslOf(settings);
  const ssl = await tlsOf(settings);
  const replicationFactor = settings.KAFKA_REPLICATION_FACTOR;
  if (settings.KAFKA_SASL_MECHANISM === undefined && settings.KAFKA_SASL_USERNAME !== undefined)
    logger.warn('KAFKA_SASL_USERNAME is not used without KAFKA_SASL_MECHANISM');
  if (settings.KAFKA_SASL_MECHANISM === 'plain' && ssl === false)
    logger.warn('KAFKA_SSL is false: the password goes to the brokers as it is');
  const bus = openKafkaMessageBus({
    brokers: commaSeparated(settings.KAFKA_BROKERS),
    clientId: `bindery-${service}`,
    ...{ ssl, ...sasl },
    partitions: settings.KAFKA_PARTITIONS,
    ...(replicationFactor === undefined ? {} : { replicationFactor }),
    now: () => clock.now().getTime(),
    onProblem: (problem) => logger.warn('message bus', { ...problem, ...adviceOn(Object(problem).error) }),
    onLog: ({ level, message, fields }) => logger.debug(message, { level, ...fields }),
  });
  keep('bus', bus);
  const waited = new AbortController();
  const patience = delay(REACH_MS, 'no answer yet', { signal: waited.signal }).catch(() => undefined);
  try {
    const late = await Promise.race([bus.reach(), patience]);
    if (late !== undefined) logger.warn('the message bus is away', { reason: late });
  } catch (error) {
    if (error instanceof KafkaRefusal) throw wrong(`${ADVICE[error.reason]} (${error.message})`, error);
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn('the message bus is away', { reason, ...adviceOn(error) });
  } finally {
    waited.abort();
  }
  return bus;
};

/** For refusals that come later: a password that was changed, a certificate that has expired. */
const adviceOn = (error: unknown): { readonly advice?: string } => {
  const reason = refusalOf(error);
  if (reason !== undefined) return { advice: ADVICE[reason] };
  return isClosedAtOnce(error) ? { advice: CLOSED } : {};
};

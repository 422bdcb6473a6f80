import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HOST } from '../ports.ts';
import { needProgram, run, type Say } from '../tools.ts';

/** What a broker needs for its listeners over TLS, and its clients to reach them. All files are PEM. */
export interface KafkaSecurity {
  readonly caFile: string;
  /** Another authority, which has signed nothing of the broker's. */
  readonly strangeCaFile: string;
  /** Private key and certificate of the broker. */
  readonly brokerFile: string;
  /** Signed by the same authority, for clients that show a certificate. */
  readonly clientCertificateFile: string;
  readonly clientKeyFile: string;
  readonly users: readonly { readonly name: string; readonly password: string }[];
}

/** Two listeners: users with a password (SASL_SSL), and clients with a certificate (SSL). */
export const secureListeners = ([secured, mutual]: readonly number[]): readonly string[] => [
  `SECURED://${HOST}:${secured}`,
  `MUTUAL://${HOST}:${mutual}`,
];

/** Properties of the two listeners. */
export const secureProperties = ({ caFile, brokerFile, users }: KafkaSecurity): readonly string[] => {
  const known = users.map(({ name, password }) => `user_${name}="${password}"`).join(' ');
  const login = 'org.apache.kafka.common.security';
  return [
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${brokerFile}`,
    'ssl.truststore.type=PEM',
    `ssl.truststore.location=${caFile}`,
    'listener.name.mutual.ssl.client.auth=required',
    'listener.name.secured.ssl.client.auth=none',
    'listener.name.secured.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    `listener.name.secured.plain.sasl.jaas.config=${login}.plain.PlainLoginModule required ${known};`,
    ...['256', '512'].map(
      (bits) => `listener.name.secured.scram-sha-${bits}.sasl.jaas.config=${login}.scram.ScramLoginModule required;`,
    ),
  ];
};

const OPENSSL = {
  program: 'openssl',
  packages: ['openssl'],
  advice: 'Install OpenSSL (Debian: apt-get install openssl): it makes the certificates of the brokers.',
};
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-sha256'];

/**
 * Makes an authority, what it signs, and an authority that nobody has asked, the first time.
 * @param folder of the broker
 * @throws MissingTool
 */
export const makeSecurity = async (folder: string, users: KafkaSecurity['users'], say: Say): Promise<KafkaSecurity> => {
  const at = (name: string): string => join(folder, name);
  const security: KafkaSecurity = {
    caFile: at('ca.pem'),
    strangeCaFile: at('strange-ca.pem'),
    brokerFile: at('broker.pem'),
    clientCertificateFile: at('client.pem'),
    clientKeyFile: at('client.key'),
    users,
  };
  if (existsSync(security.brokerFile)) return security;
  const openssl = await needProgram(OPENSSL, say);
  await mkdir(folder, { recursive: true });
  const authority = (name: string): Promise<string> => {
    const out = ['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)];
    return run(openssl, ['req', '-x509', ...KEY, '-days', '3650', '-subj', `/CN=bindery ${name}`, ...out]);
  };
  const signed = async (name: string, names: string): Promise<void> => {
    const out = ['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)];
    const by = ['-CA', at('ca.pem'), '-CAkey', at('ca.key')];
    const extensions = ['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', `subjectAltName=${names}`];
    await run(openssl, ['req', '-x509', ...KEY, '-days', '3650', '-subj', `/CN=${name}`, ...by, ...extensions, ...out]);
  };
  await Promise.all([authority('ca'), authority('strange-ca')]);
  await Promise.all([signed('server', `IP:${HOST},DNS:localhost`), signed('client', 'DNS:client')]);
  for (const name of ['ca.key', 'strange-ca.key', 'server.key', 'client.key']) await chmod(at(name), 0o600);
  const parts = await Promise.all(['server.key', 'server.pem'].map((name) => readFile(at(name), 'utf8')));
  await writeFile(security.brokerFile, parts.join(''), { mode: 0o600 });
  return security;
};

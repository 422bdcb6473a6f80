import { gatewaySettings } from '@bindery/gateway';
import { acceptableToken, signInSettings } from '@bindery/identity';
import { type ConfigOf, optional, readConfig, required } from '@bindery/service-kit';
import { mailSettings } from './mail.ts';
import { masterKeyPattern } from './master-key.ts';

/** Every setting of the embedded profile; `docs/` shows the same as a table. */
export const settings = {
  ...gatewaySettings,
  ...signInSettings,
  DATA_DIR: required.text({ description: 'Directory for everything that is kept.', fallback: './data' }),
  PUBLIC_URL: optional.url({
    description: 'Address under which people reach the instance; default: where it listens.',
  }),
  LOG_LEVEL: required.oneOf(['debug', 'info', 'warn', 'error'], {
    description: 'Least severe log lines that are written.',
    fallback: 'info',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional.url({
    description: 'Collector for traces and metrics (OTLP over HTTP); nothing is traced without it.',
  }),
  MASTER_KEY: optional.text({
    description:
      'Key that protects personal data; default: `master.key` in the data directory, made at the first start.',
    pattern: masterKeyPattern,
    allowed: '32 bytes, as 64 hexadecimal digits or base64',
    secret: true,
  }),
  BINDERY_BOOTSTRAP_TOKEN: optional.text({
    description: 'A token that works for the administrator; the first start makes a random one without it.',
    pattern: acceptableToken,
    allowed: '20 to 256 of the characters A-Z a-z 0-9 . _ ~ + / -',
    secret: true,
  }),
  BINDERY_BOOTSTRAP_EMAIL: required.text({
    description: 'Email of the administrator that the first start creates.',
    fallback: 'admin@localhost',
    pattern: /^[^\s@]{1,64}@[^\s@]{1,180}$/,
    allowed: 'an email',
  }),
  BINDERY_BOOTSTRAP_NAME: required.text({
    description: 'Name of the administrator that the first start creates.',
    fallback: 'Administrator',
    pattern: /^[^\p{Cc}]{1,64}$/u,
    allowed: '1 to 64 characters',
  }),
  BINDERY_BOOTSTRAP_ORGANIZATION: required.text({
    description: 'Title of the organization that the first start creates.',
    fallback: 'My organization',
    pattern: /^[^\p{Cc}]{2,255}$/u,
    allowed: '2 to 255 characters',
  }),
  ...mailSettings,
  BINDERY_FETCH_ALLOW: optional.text({
    description:
      'Hosts, addresses and blocks, separated by commas, that files may be fetched from although they are not public.',
    pattern: /^[A-Za-z0-9.:/_,[\] -]{1,2000}$/,
    allowed: 'hosts, addresses or blocks separated by commas',
  }),
  SAML_PLAIN_HTTP_HOSTS: optional.text({
    description: 'Hosts of SAML identity providers, separated by commas, whose sign-in address may be http.',
    pattern: /^[A-Za-z0-9.:_,[\] -]{1,2000}$/,
    allowed: 'hosts separated by commas',
  }),
  SAML_UNSIGNED_RESPONSES: optional.text({
    description:
      'Entity ids of SAML identity providers, separated by commas, that sign assertions but cannot sign responses as well.',
    pattern: /^[\x21-\x7e ]{1,8000}$/,
    allowed: 'entity ids separated by commas',
  }),
  IMPORT_DOCS: required.flag({
    description: 'Whether the first start imports the documentation of Bindery, so that there is something to look at.',
    fallback: true,
  }),
};

/** The settings of one start. */
export type Settings = ConfigOf<typeof settings>;

/**
 * Reads the environment; the only place that does.
 * @throws ConfigError naming all wrong settings at once
 */
export const readSettings = (env: Readonly<Record<string, string | undefined>>): Settings => readConfig(settings, env);

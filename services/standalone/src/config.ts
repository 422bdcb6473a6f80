import { contentSettings } from '@bindery/content';
import { gatewaySettings } from '@bindery/gateway';
import { identitySettings } from '@bindery/identity';
import {
  type ConfigOf,
  keySettings,
  masterKeySetting,
  optional,
  processSettings,
  readConfig,
  required,
} from '@bindery/service-kit';

/** Every setting of the embedded profile; `docs/` shows the same as a table. */
export const settings = {
  ...gatewaySettings,
  DATA_DIR: required.text({ description: 'Directory for everything that is kept.', fallback: './data' }),
  PUBLIC_URL: optional.url({
    description: 'Address under which people reach the instance; default: where it listens.',
  }),
  ...processSettings,
  MASTER_KEY: optional.text({
    description:
      'Key that wraps the key which protects personal data; default: `master.key` in the data directory, made when it is not there.',
    ...masterKeySetting,
  }),
  ...keySettings,
  ...identitySettings,
  ...contentSettings,
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

import { contentProcessSettings } from '@bindery/content/process-settings';
import { gatewayProcessSettings } from '@bindery/distributed/settings';
import { gatewaySettings } from '@bindery/gateway';
import { identityProcessSettings } from '@bindery/identity/process-settings';
import { ConfigError, type ConfigSchema, readConfig } from '@bindery/service-kit';
import { outcomeOf } from './run.ts';
import { root } from './tools.ts';

/** Every setting of each process of the distributed profile. */
export const processes: Readonly<Record<string, ConfigSchema>> = {
  gateway: { ...gatewaySettings, ...gatewayProcessSettings },
  identity: identityProcessSettings,
  content: contentProcessSettings,
};

export type Environment = Readonly<Record<string, string>>;

/** Of the image and of every Node process, which are no settings of the product. */
const ofTheImage = ['DATA_DIR', 'HOST', 'PORT', 'NODE_ENV', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'TMPDIR'];

/** @returns what a deployment gives a process that it does not know, or does not give that it needs, or gives in a wrong form */
export const wrongSettings = (process: string, environment: Environment): readonly string[] => {
  const schema = processes[process];
  if (!schema) return [`${process} is no process`];
  const unknown = Object.keys(environment).filter((name) => !(name in schema) && !ofTheImage.includes(name));
  const problems = unknown.map((name) => `${process} has no setting ${name}`);
  // Servers for mail refuse senders of `localhost`.
  if ('SMTP_URL' in environment && !('MAIL_FROM' in environment))
    problems.push(`${process} is given SMTP_URL without MAIL_FROM`);
  try {
    readConfig(schema, environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(`${process}: ${error.message}`);
  }
  return problems;
};

/**
 * Asks the process itself: started with one setting that is surely wrong, it says all that are, and ends before it connects to
 * anything. So what is said above cannot drift from what the process reads.
 */
export const refusedByProcess = async (process: string, environment: Environment): Promise<readonly string[]> => {
  const { stderr } = await outcomeOf(globalThis.process.execPath, [`services/${process}/src/main.ts`], {
    cwd: root,
    env: { ...environment, PORT: 'surely-wrong' },
    timeoutMs: 60_000,
  });
  const [, list] = /Configuration: (.*)/.exec(stderr) ?? [];
  if (list === undefined) return [`${process} did not read its settings: ${stderr.slice(-500)}`];
  return list
    .split('; ')
    .filter((problem) => !problem.startsWith('PORT:'))
    .map((problem) => `${process} refuses ${problem}`);
};

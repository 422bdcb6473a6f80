/** One setting: how its text is read, and what people should know about it. */
export interface Setting<T> {
  readonly description: string;
  /** Value when the variable is absent or empty. */
  readonly fallback: T | undefined;
  readonly required: boolean;
  /** Never shown. */
  readonly secret: boolean;
  /** What is allowed, in words. */
  readonly allowed: string;
  /** @throws Error whose message continues "NAME: " */
  read(text: string): T;
}

export type ConfigSchema = Readonly<Record<string, Setting<unknown>>>;
export type ConfigOf<S extends ConfigSchema> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? (S[K]['required'] extends true ? T : T | undefined) : never;
};

interface Common<T> {
  readonly description: string;
  readonly fallback?: T;
  readonly secret?: boolean;
}
type Present<T> = Setting<T> & { readonly required: true };
type Maybe<T> = Setting<T> & { readonly required: false };

const setting = <T>(common: Common<T>, required: boolean, allowed: string, read: (text: string) => T): Setting<T> => ({
  description: common.description,
  fallback: common.fallback,
  secret: common.secret ?? false,
  required,
  allowed,
  read,
});
const refuse = (allowed: string): never => {
  throw new Error(`must be ${allowed}`);
};

const makers = (required: boolean) => ({
  text: (
    common: Common<string> & { readonly pattern?: RegExp; readonly allowed?: string; readonly minLength?: number },
  ) => {
    const { pattern, minLength = 1 } = common;
    const allowed = common.allowed ?? (minLength > 1 ? `text of at least ${minLength} characters` : 'text');
    return setting(common, required, allowed, (text) =>
      text.length < minLength || (pattern && !pattern.test(text)) ? refuse(allowed) : text,
    );
  },
  integer: (common: Common<number> & { readonly min: number; readonly max: number }) => {
    const allowed = `a whole number from ${common.min} to ${common.max}`;
    return setting(common, required, allowed, (text) => {
      const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= common.min && value <= common.max ? value : refuse(allowed);
    });
  },
  flag: (common: Common<boolean>) =>
    setting(common, required, 'true or false', (text) => {
      if (text === 'true' || text === '1') return true;
      return text === 'false' || text === '0' ? false : refuse('true or false');
    }),
  oneOf: <const W extends string>(words: readonly W[], common: Common<W>) => {
    const allowed = words.join(' or ');
    return setting<W>(common, required, allowed, (text) => words.find((word) => word === text) ?? refuse(allowed));
  },
  url: (common: Common<string>) =>
    setting(common, required, 'an http or https URL', (text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return refuse('an http or https URL');
      return text.replace(/\/+$/, '');
    }),
});

const strict = makers(true);
const lax = makers(false);

/** Settings that always have a value: from the environment, or `fallback`; a start fails without either. */
export const required = {
  text: (options: Parameters<typeof strict.text>[0]) => strict.text(options) as Present<string>,
  integer: (options: Parameters<typeof strict.integer>[0]) => strict.integer(options) as Present<number>,
  flag: (options: Parameters<typeof strict.flag>[0]) => strict.flag(options) as Present<boolean>,
  url: (options: Parameters<typeof strict.url>[0]) => strict.url(options) as Present<string>,
  oneOf: <const W extends string>(words: readonly W[], options: Common<W>) =>
    strict.oneOf(words, options) as Present<W>,
};
/** Settings that may be absent. */
export const optional = {
  text: (options: Parameters<typeof lax.text>[0]) => lax.text(options) as Maybe<string>,
  integer: (options: Parameters<typeof lax.integer>[0]) => lax.integer(options) as Maybe<number>,
  flag: (options: Parameters<typeof lax.flag>[0]) => lax.flag(options) as Maybe<boolean>,
  url: (options: Parameters<typeof lax.url>[0]) => lax.url(options) as Maybe<string>,
  oneOf: <const W extends string>(words: readonly W[], options: Common<W>) => lax.oneOf(words, options) as Maybe<W>,
};

/** The environment does not fit the schema; the message lists every setting that is wrong, without its value. */
export class ConfigError extends Error {
  readonly code = 'config.invalid';
}

/**
 * Reads the environment once, at start. Empty variables count as absent.
 * @throws ConfigError naming all wrong settings at once
 */
export function readConfig<const S extends ConfigSchema>(
  schema: S,
  env: Readonly<Record<string, string | undefined>>,
): ConfigOf<S> {
  const wrong: string[] = [];
  const values = Object.entries(schema).map(([name, { fallback, required: needed, allowed, read }]) => {
    const text = env[name]?.trim();
    if (text === undefined || text === '') {
      if (needed && fallback === undefined) wrong.push(`${name}: is required (${allowed})`);
      return [name, fallback];
    }
    try {
      return [name, read(text)];
    } catch (error) {
      wrong.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      return [name, undefined];
    }
  });
  if (wrong.length > 0) throw new ConfigError(`Configuration: ${wrong.join('; ')}`);
  return Object.fromEntries(values);
}

/** The settings as a Markdown table, for the documentation. */
export function configTable(schema: ConfigSchema): string {
  const rows = Object.entries(schema).map(([name, { description, fallback, required: needed, allowed, secret }]) => {
    const usual = fallback === undefined ? (needed ? '(required)' : '') : secret ? '(hidden)' : String(fallback);
    return `| \`${name}\` | ${allowed} | ${usual} | ${description} |`;
  });
  return ['| Variable | Value | Default | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The entries of a setting that is a list, without what is around them; none when it is absent. */
export const commaSeparated = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

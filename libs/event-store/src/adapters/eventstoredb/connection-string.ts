/** Options of a connection string that the client library knows, without case, "-" and "_". */
const OPTIONS: ReadonlySet<string> = new Set([
  'tls',
  'tlscafile',
  'tlsverifycert',
  'usercertfile',
  'userkeyfile',
  'connectionname',
  'defaultdeadline',
  'discoveryinterval',
  'gossiptimeout',
  'keepaliveinterval',
  'keepalivetimeout',
  'maxdiscoverattempts',
  'nodepreference',
  'throwonappendfailure',
]);

const PARTS =
  /^(?:esdb|kurrentdb|eventstore)(?<discover>\+discover)?:\/\/(?<authority>[^/?]*)\/*(?:\?(?<query>.*))?$/su;
const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/;
const CREDENTIALS = /^[^:@]+:[^:@]+$/;

const wrong = (what: string): Error => new Error(`the connection string of the event store ${what}`);

const checkedCredentials = (text: string): string => {
  const hint = 'characters like @ : / ? % in them are written as %40 %3A %2F %3F %25';
  if (!CREDENTIALS.test(text)) throw wrong(`has no user:password before its @, or ${hint}`);
  try {
    decodeURIComponent(text);
  } catch {
    throw wrong(`has a user or password that cannot be decoded: ${hint}`);
  }
  return text;
};

const checkedHosts = (text: string): readonly string[] => {
  const hosts = text.split(',').map((host) => host.trim());
  const odd = hosts.find((host) => !HOST.test(host));
  if (odd !== undefined) throw wrong(`has a host that is no name or IPv4 address with a port: "${odd}"`);
  return hosts;
};

const nameOf = (key: string): string => key.toLowerCase().replaceAll(/[_-]/gu, '');

const checkedOptions = (text: string): readonly (readonly [key: string, value: string])[] =>
  text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [key = '', value = '', ...more] = pair.split('=');
      if (!OPTIONS.has(nameOf(key))) throw wrong(`has an unknown option "${key}"`);
      if (value === '' || more.length > 0) throw wrong(`has no value, or more than one, for the option "${key}"`);
      return [key, value] as const;
    });

/**
 * A connection string as the client library understands it. The library would print the whole of one with an option that it
 * does not know, password included; it ignores all hosts but the first of `esdb+discover://`, cuts a password at a colon, and
 * does not know the name `kurrentdb://`. Several hosts are the members of a cluster, with or without `+discover`.
 * @throws Error which says what is wrong, without user and password
 */
export const clientConnectionString = (text: string): string => {
  const { discover, authority = '', query = '' } = PARTS.exec(text.trim())?.groups ?? {};
  const at = authority.lastIndexOf('@');
  const credentials = at < 0 ? '' : `${checkedCredentials(authority.slice(0, at))}@`;
  if (authority === '') throw wrong('must look like esdb://user:password@host:2113?tls=true, or esdb+discover://...');
  const hosts = checkedHosts(authority.slice(at + 1));
  const options = checkedOptions(query);
  const isFalse = (name: string): boolean => options.some(([key, value]) => nameOf(key) === name && value === 'false');
  if (isFalse('tlsverifycert') && !isFalse('tls'))
    throw wrong('asks not to verify certificates, which the client cannot: name the authority with tlsCAFile');
  const scheme = discover !== undefined && hosts.length === 1 ? 'esdb+discover' : 'esdb';
  const kept = options.filter(([key]) => nameOf(key) !== 'tlsverifycert').map(([key, value]) => `${key}=${value}`);
  return `${scheme}://${credentials}${hosts.join(',')}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
};

const KEEP_ALIVE_TIMEOUT_MS = 10_000;
/** "Never", which the client library writes as -1. */
const NEVER_MS = 1_000_000_000;

/**
 * The same for a further connection to the same place. gRPC shares one HTTP/2 connection among all channels with the same
 * settings, so that one setting is made to differ, by as many ms as there are connections before it.
 * @param checked what {@link clientConnectionString} gave
 */
export const furtherConnectionString = (checked: string, before: number): string => {
  const [start = '', query = ''] = checked.split('?');
  const options = query.split('&').filter((pair) => pair !== '');
  const isTimeout = (pair: string): boolean => nameOf(pair.split('=')[0] ?? '') === 'keepalivetimeout';
  const given = Number(options.find(isTimeout)?.split('=')[1] ?? KEEP_ALIVE_TIMEOUT_MS);
  const timeout = (given < 0 ? NEVER_MS : given) + before;
  return `${start}?${[...options.filter((pair) => !isTimeout(pair)), `keepAliveTimeout=${timeout}`].join('&')}`;
};

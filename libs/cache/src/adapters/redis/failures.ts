import { CacheUnavailable } from '../../errors.ts';

/**
 * What a failure of a command means: `down`, nothing will work for a while; `refused`, this command does not work now, others
 * may; `fault`, the command itself is wrong.
 */
export type FailureKind = 'down' | 'refused' | 'fault';

/**
 * First words of answers of a server that cannot serve: starting, without its primary, demoted, stuck, or not ours; or one of
 * several that share the keys, which this client does not look for.
 */
const downCodes = new Set([
  'LOADING',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'READONLY',
  'TRYAGAIN',
  'BUSY',
  'NOAUTH',
  'WRONGPASS',
  'DENIED',
  'UNKILLABLE',
  'MOVED',
  'ASK',
]);
/** Full, cannot save, too few replicas, not permitted. */
const refusedCodes = new Set(['OOM', 'MISCONF', 'NOREPLICAS', 'NOPERM']);
/** How servers before 7 wrap what a command within a script was told, and how each says that a script may not do what it does. */
const withinScript = /^ERR Error running script .*?-([A-Z]+) /s;
const scriptRefused = /^ERR (?:ACL failure in script|.*The user executing the script can't)/s;

/** Whether the server has answered, but not with what it was asked for. */
export const isRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/** The one place where failures are told apart (PITFALLS 11). */
export const kindOfFailure = (error: unknown): FailureKind => {
  if (!(error instanceof Error)) return 'fault';
  if (isRefusal(error)) {
    const { message } = error;
    const word = withinScript.exec(message)?.[1] ?? /^[A-Z]+/.exec(message)?.[0] ?? '';
    if (downCodes.has(word) || message.startsWith('ERR max number of clients')) return 'down';
    return refusedCodes.has(word) || scriptRefused.test(message) ? 'refused' : 'fault';
  }
  // Everything that a connection can do: refused, reset, closed, not writable, timed out, answers that cannot be parsed.
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError ? 'fault' : 'down';
};

/** Whether keys have to be asked for one by one: not permitted otherwise, or a server in cluster mode (that has them all). */
export const isOneByOne = (error: unknown): boolean =>
  error instanceof Error && isRefusal(error) && /^(?:NOPERM|CROSSSLOT) /.test(error.message);

/** Whether the server does not know a script (any more). */
export const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && isRefusal(error) && error.message.startsWith('NOSCRIPT');

/** A failure as the port's error; faults stay what they are. */
export const translated = (error: unknown): unknown =>
  error instanceof CacheUnavailable || kindOfFailure(error) === 'fault'
    ? error
    : new CacheUnavailable(`Redis cannot be used now (${error instanceof Error ? error.message : 'unknown'})`, {
        cause: error,
      });

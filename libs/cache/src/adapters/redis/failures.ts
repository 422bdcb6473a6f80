import { CacheUnavailable } from '../../errors.ts';

/**
 * What a failure of a command means: `down`, nothing will work for a while; `refused`, this command does not work now, others
 * may; `fault`, the command itself is wrong.
 */
export type FailureKind = 'down' | 'refused' | 'fault';

/** First words of answers of a server that cannot serve: starting, without its primary, demoted, stuck, or not ours. */
const downCodes = new Set([
  'LOADING',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'READONLY',
  'TRYAGAIN',
  'BUSY',
  'NOAUTH',
  'WRONGPASS',
  'UNKILLABLE',
]);
/** Full, cannot save, too few replicas, not permitted. */
const refusedCodes = new Set(['OOM', 'MISCONF', 'NOREPLICAS', 'NOPERM']);

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** The one place where failures are told apart (PITFALLS 11). */
export const kindOfFailure = (error: unknown): FailureKind => {
  if (!(error instanceof Error)) return 'fault';
  if (nameOf(error) === 'ReplyError') {
    const word = /^[A-Z]+/.exec(error.message)?.[0] ?? '';
    if (downCodes.has(word) || error.message.startsWith('ERR max number of clients')) return 'down';
    return refusedCodes.has(word) ? 'refused' : 'fault';
  }
  // Everything that a connection can do: refused, reset, closed, not writable, timed out, answers that cannot be parsed.
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError ? 'fault' : 'down';
};

/** Whether the server does not know a script (any more). */
export const isUnknownScript = (error: unknown): boolean =>
  nameOf(error) === 'ReplyError' && error instanceof Error && error.message.startsWith('NOSCRIPT');

/** A failure as the port's error; faults stay what they are. */
export const translated = (error: unknown): unknown =>
  error instanceof CacheUnavailable || kindOfFailure(error) === 'fault'
    ? error
    : new CacheUnavailable(`Redis cannot be used now (${error instanceof Error ? error.message : 'unknown'})`, {
        cause: error,
      });

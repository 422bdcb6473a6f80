import { expect, test } from '@jest/globals';
import { ReplyError } from 'ioredis';
import { CacheUnavailable } from '../../errors.ts';
import { isUnknownScript, kindOfFailure, translated } from './failures.ts';

const table: readonly (readonly [string, unknown, 'down' | 'refused' | 'fault'])[] = [
  ['starting', new ReplyError('LOADING Redis is loading the dataset in memory'), 'down'],
  ['demoted', new ReplyError("READONLY You can't write against a read only replica."), 'down'],
  ['stuck', new ReplyError('BUSY Redis is busy running a script.'), 'down'],
  ['without its primary', new ReplyError('MASTERDOWN Link with MASTER is down'), 'down'],
  ['not ours', new ReplyError('WRONGPASS invalid username-password pair'), 'down'],
  ['crowded', new ReplyError('ERR max number of clients reached'), 'down'],
  ['full', new ReplyError("OOM command not allowed when used memory > 'maxmemory'."), 'refused'],
  ['cannot save', new ReplyError('MISCONF Redis is configured to save RDB snapshots'), 'refused'],
  ['not permitted', new ReplyError("NOPERM this user has no permissions to run the 'set' command"), 'refused'],
  ['one of many', new ReplyError('MOVED 3999 10.0.0.7:6379'), 'down'],
  ['protected', new ReplyError('DENIED Redis is running in protected mode'), 'down'],
  [
    'demoted, to a script, in the words of version 6',
    new ReplyError(
      "ERR Error running script (call to f_0ab2965): @user_script:2: @user_script: 2: -READONLY You can't write against a read only replica. ",
    ),
    'down',
  ],
  [
    'full, to a script, in the words of version 6',
    new ReplyError(
      "ERR Error running script (call to f_0ab2965): @user_script:6: @user_script: 6: -OOM command not allowed when used memory > 'maxmemory'. ",
    ),
    'refused',
  ],
  [
    'not permitted, to a script, in the words of version 6',
    new ReplyError(
      "ERR Error running script (call to f_0ab2965): @user_script:2: @user_script: 2: The user executing the script can't run this command or subcommand ",
    ),
    'refused',
  ],
  [
    'not permitted, to a script, in the words of version 7.0',
    new ReplyError(
      "ERR The user executing the script can't run this command or subcommand script: ed2a, on @user_script:2.",
    ),
    'refused',
  ],
  [
    'not permitted, to a script',
    new ReplyError("ERR ACL failure in script: User bindery has no permissions to run the 'time' command"),
    'refused',
  ],
  [
    'a mistake of a script, in the words of version 6',
    new ReplyError('ERR Error running script (call to f_0ab2965): @user_script:2: user_script:2: attempt to index nil'),
    'fault',
  ],
  ['wrong command', new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value'), 'fault'],
  ['wrong script', new ReplyError('ERR user_script:1: attempt to index nil'), 'fault'],
  ['wrong use', new RangeError('ttlMs'), 'fault'],
  ['no error', 'text', 'fault'],
  ['refused', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'down'],
  ['closed', new Error('Connection is closed.'), 'down'],
  ['late', new CacheUnavailable('Redis did not answer within 250 ms'), 'down'],
];

test.each(table)('%s', (_name, error, kind) => {
  expect(kindOfFailure(error)).toBe(kind);
  const given = translated(error);
  if (kind === 'fault') expect(given).toBe(error);
  else expect(given).toMatchObject({ code: 'cache.unavailable', name: 'CacheUnavailable' });
});

test('an unknown script is known by its code alone', () => {
  expect(isUnknownScript(new ReplyError('NOSCRIPT No matching script. Please use EVAL.'))).toBe(true);
  expect(isUnknownScript(new Error('NOSCRIPT'))).toBe(false);
});

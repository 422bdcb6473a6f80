import { describe, expect, test } from '@jest/globals';
import { openEventStoreDb } from '../eventstoredb.ts';
import { clientConnectionString, furtherConnectionString } from './connection-string.ts';

describe('what the client library is given', () => {
  test.each([
    ['esdb://h:2113?tls=false', 'esdb://h:2113?tls=false'],
    ['esdb://h', 'esdb://h'],
    [' esdb://h:2113/?tls=true ', 'esdb://h:2113?tls=true'],
    [
      'esdb://u:p%40%3A@h:2113?tls=true&tlsCAFile=/etc/ca.crt',
      'esdb://u:p%40%3A@h:2113?tls=true&tlsCAFile=/etc/ca.crt',
    ],
    ['esdb+discover://cluster.local:2113', 'esdb+discover://cluster.local:2113'],
    // The library would take the first host alone.
    ['esdb+discover://a:1,b:2,c?tls=true', 'esdb://a:1,b:2,c?tls=true'],
    ['esdb://a:1, b:2', 'esdb://a:1,b:2'],
    // Names that newer servers use, which it does not know.
    ['kurrentdb://u:p@h', 'esdb://u:p@h'],
    ['kurrentdb+discover://h', 'esdb+discover://h'],
    ['esdb://h?tls=false&tlsVerifyCert=false', 'esdb://h?tls=false'],
    ['esdb://h?tlsVerifyCert=true&node_preference=leader', 'esdb://h?node_preference=leader'],
  ])('%s', (given, expected) => {
    expect(clientConnectionString(given)).toBe(expected);
  });

  test.each([
    ['', 'must look like'],
    ['http://u:secret@h', 'must look like'],
    ['esdb://u:secret@h?foo=1', 'unknown option "foo"'],
    ['esdb://u:secret@h?tls', 'no value'],
    ['esdb://u:sec:ret@h', 'are written as %40'],
    ['esdb://u:sec@ret@h', 'are written as %40'],
    ['esdb://u:secret%zz@h', 'cannot be decoded'],
    ['esdb://secret@h', 'are written as %40'],
    ['esdb://u:secret@[::1]:2113', 'no name or IPv4 address'],
    ['esdb://u:secret@a,,b', 'no name or IPv4 address'],
    ['esdb://u:secret@h?tls=true&tlsVerifyCert=false', 'tlsCAFile'],
    ['esdb://u:secret@h?tls=maybe', 'expected true or false'],
    ['esdb://u:secret@h?tlsCAFile=/not/there.crt', 'not found'],
    ['esdb://u:secret@h?userCertFile=/not/there.crt', 'userKeyFile'],
    ['esdb://u:secret@h?nodePreference=nearest', 'expected'],
  ])('%s is refused, and the password is not in the error', (given, reason) => {
    const open = (): unknown => openEventStoreDb({ connectionString: given });
    expect(open).toThrow(reason);
    try {
      open();
    } catch (error) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/sec:?@?ret/u);
    }
  });

  test('a further connection differs by one setting and in nothing else', () => {
    expect(furtherConnectionString('esdb://h', 1)).toBe('esdb://h?keepAliveTimeout=10001');
    expect(furtherConnectionString('esdb://h?tls=false&keepAliveTimeout=500', 2)).toBe(
      'esdb://h?tls=false&keepAliveTimeout=502',
    );
    expect(furtherConnectionString('esdb://h?keepAliveTimeout=-1', 3)).toBe('esdb://h?keepAliveTimeout=1000000003');
  });
});

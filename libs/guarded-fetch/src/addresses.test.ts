import { describe, expect, test } from '@jest/globals';
import { mayConnect, parseAllowEntry } from './addresses.ts';
import { createGuardedFetch } from './guarded-fetch.ts';

/** Spellings of places that are not public; none may be connected to, whatever the spelling. */
const inside = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://127.0.1/',
  'http://0x7f.1/',
  'http://0x7f.0x0.0x0.0x1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://①②⑦.0.0.1/',
  'http://127。0。0。1/',
  'http://１２７.0.0.1/',
  'http://127.255.255.254/',
  'http://0/',
  'http://0.0.0.0/',
  'http://[::]/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[0:0:0:0:0:ffff:7f00:0001]/',
  'http://[::127.0.0.1]/',
  'http://[::7f00:1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b:1::10.0.0.1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'http://[fe80::1]/',
  'http://[fc00::1]/',
  'http://[fd12:3456::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://100.64.0.1/',
  'http://168.63.129.16/',
  'http://192.0.2.1/',
  'http://198.18.0.1/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
];

describe('addresses', () => {
  test.each(inside)('%s is not fetched', async (url) => {
    const never = async (): Promise<readonly string[]> => {
      throw new Error('an address needs no resolver');
    };
    await expect(createGuardedFetch({ resolve: never })(url)).rejects.toMatchObject({ reason: 'blocked' });
  });

  test.each(['93.184.216.34', '8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is public', (address) => {
    expect(mayConnect(address, [])).toBe(true);
  });

  test('the allow list opens exactly what it names', () => {
    const allow = ['10.1.0.0/16', '192.168.7.7', 'fd00::/8'].map(parseAllowEntry);
    expect(['10.1.2.3', '192.168.7.7', 'fd12::1', '::ffff:10.1.2.3'].map((it) => mayConnect(it, allow))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['10.2.0.1', '192.168.7.8', 'fe80::1', 'nonsense'].map((it) => mayConnect(it, allow))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test.each(['10.0.0.0/33', 'http://x', 'a b', ''])('the allow list refuses %j', (entry) => {
    expect(() => parseAllowEntry(entry)).toThrow(/allow list/);
  });
});

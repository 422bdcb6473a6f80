import { describe, expect, jest, test } from '@jest/globals';
import { asProblem } from './as-problem.ts';
import { ConfigError, configTable, optional, readConfig, required } from './config.ts';
import { createCursorCodec, listIdentity } from './cursors.ts';
import { isProblem, Problem } from './errors.ts';
import { requireIfMatch } from './etags.ts';
import { createIdSource } from './ids.ts';
import { createLifecycle } from './lifecycle.ts';

describe('ids', () => {
  test('are long, alphanumeric, never all digits, and do not repeat', () => {
    const ids = createIdSource();
    const made = new Set(Array.from({ length: 5000 }, () => ids.id()));
    expect(made.size).toBe(5000);
    for (const id of made) expect(id).toMatch(/^(?!\d+$)[A-Za-z0-9]{22}$/);
    expect(ids.eventId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
  test('are in the order of time without a seed', () => {
    const ids = createIdSource();
    const now = jest.spyOn(Date, 'now');
    try {
      const drawn = [1_700_000_000_000, 1_700_000_000_001, 1_700_000_003_843, 1_900_000_000_000].map((time) => {
        now.mockReturnValue(time);
        return { id: ids.id(), eventId: ids.eventId() };
      });
      expect(drawn.map(({ id }) => id).sort()).toEqual(drawn.map(({ id }) => id));
      expect(drawn.map(({ eventId }) => eventId).sort()).toEqual(drawn.map(({ eventId }) => eventId));
      const [one, other] = [ids.id(), ids.id()];
      expect(one.slice(0, 7)).toBe(other.slice(0, 7));
      expect(one.slice(7)).not.toBe(other.slice(7));
    } finally {
      now.mockRestore();
    }
  });
  test('are the same for the same seed, in order', () => {
    const draw = (seed: string): string[] => {
      const ids = createIdSource(seed);
      return [ids.id(), ids.eventId(), ids.id(), ids.eventId()];
    };
    expect(draw('a')).toEqual(draw('a'));
    expect(new Set([...draw('a'), ...draw('b')]).size).toBe(8);
    expect(draw('a')[1]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe('cursors', () => {
  const codec = createCursorCodec('a secret that is long enough');
  const list = listIdentity('listThings', { organizationId: 'o1', search: 'x', page: 'p', limit: 3, role: undefined });
  test('come back in their list', () => {
    const position = ['ü', 3, null, true, 'id'];
    expect(codec.decode(list, codec.encode(list, position))).toEqual(position);
  });
  test('the identity of a list leaves paging out', () => {
    expect(list).toBe(listIdentity('listThings', { search: 'x', organizationId: 'o1', limit: 9 }));
    expect(list).not.toBe(listIdentity('listThings', { search: 'y', organizationId: 'o1' }));
  });
  const good = codec.encode(list, ['a']);
  test.each([
    ['forged', `${good.slice(0, -2)}AA`],
    ['of another secret', createCursorCodec('another secret, long enough').encode(list, ['a'])],
    ['of another list', codec.encode('other', ['a'])],
    ['longer', `${good}.x`],
    ['text', 'hello'],
    ['empty', ''],
    ['huge', 'x'.repeat(5000)],
  ])('%s: refused', (_, cursor) => {
    expect(() => codec.decode(list, cursor)).toThrow('query.page: is not a cursor of this list');
  });
});

test('If-Match', () => {
  expect(() => requireIfMatch({}, '3')).not.toThrow();
  expect(() => requireIfMatch({ ifMatch: '*' }, '3')).not.toThrow();
  expect(() => requireIfMatch({ ifMatch: '3' }, '3')).not.toThrow();
  expect(() => requireIfMatch({ ifMatch: '2' }, '3')).toThrow(/changed since/);
});

test('any failure becomes a problem, without its text', () => {
  const known = new Problem('conflict', 'x.y', 'no');
  expect(asProblem(known, 'r')).toBe(known);
  const away = asProblem(Object.assign(new Error('host db-1 away'), { code: 'read_store.unavailable' }), 'r');
  expect([away.kind, away.message]).toEqual(['unavailable', 'A store cannot be reached at the moment.']);
  const unknown = asProblem(new Error('password'), 'r-1');
  expect([unknown.kind, unknown.message]).toEqual(['internal', 'Something went wrong on our side. Request id: r-1']);
  expect(isProblem(unknown)).toBe(true);
});

describe('configuration', () => {
  const schema = {
    PORT: required.integer({ description: 'Port.', fallback: 3000, min: 0, max: 65_535 }),
    TOKEN: required.text({ description: 'Token.', minLength: 8, secret: true }),
    LEVEL: required.oneOf(['debug', 'info'], { description: 'Level.', fallback: 'info' }),
    URL: optional.url({ description: 'Address.' }),
    FLAG: required.flag({ description: 'Flag.', fallback: false }),
  };
  test('is read with types and defaults', () => {
    const values = readConfig(schema, { TOKEN: 'abcdefgh', URL: 'http://x/', FLAG: 'true', PORT: ' 8080 ' });
    const typed: { PORT: number; TOKEN: string; LEVEL: 'debug' | 'info'; URL: string | undefined; FLAG: boolean } =
      values;
    expect(typed).toEqual({ PORT: 8080, TOKEN: 'abcdefgh', LEVEL: 'info', URL: 'http://x', FLAG: true });
  });
  test('fails with everything that is wrong, and no values', () => {
    const read = () => readConfig(schema, { PORT: '99999', TOKEN: 'short', LEVEL: 'loud', URL: 'ftp://x', FLAG: '' });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(
      'Configuration: PORT: must be a whole number from 0 to 65535; TOKEN: must be text of at least 8 characters; LEVEL: must be debug or info; URL: must be an http or https URL',
    );
    expect(() => readConfig(schema, {})).toThrow('TOKEN: is required');
  });
  test('documents itself', () => {
    expect(configTable(schema)).toContain('| `PORT` | a whole number from 0 to 65535 | 3000 | Port. |');
  });
});

describe('lifecycle', () => {
  const log: string[] = [];
  const part = (name: string, stop: () => Promise<void> = async () => undefined) => ({
    name,
    start: async () => {
      log.push(`+${name}`);
    },
    stop: async () => {
      log.push(`-${name}`);
      await stop();
    },
    stopWithinMs: 30,
  });
  test('starts in order, stops in reverse, within its time', async () => {
    log.length = 0;
    const reported: string[] = [];
    const life = createLifecycle(
      [part('store'), part('hangs', () => new Promise(() => undefined)), part('http')],
      (name) => reported.push(name),
    );
    await life.start();
    expect(await life.stop()).toEqual(['hangs']);
    expect(await life.stop()).toEqual(['hangs']);
    expect(log).toEqual(['+store', '+hangs', '+http', '-http', '-hangs', '-store']);
    expect(reported).toEqual(['hangs']);
  });
  test('a failed start stops what was started', async () => {
    log.length = 0;
    const bad = { name: 'bad', start: () => Promise.reject(new Error('no')) };
    const life = createLifecycle([part('store'), bad, part('http')], () => undefined);
    await expect(life.start()).rejects.toThrow('no');
    expect(log).toEqual(['+store', '-store']);
  });
});

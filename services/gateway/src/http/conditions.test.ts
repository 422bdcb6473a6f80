import { isProblem, notFound, preconditionFailed } from '@bindery/service-kit';
import { describe, expect, test } from '@jest/globals';
import { ifMatchOf, underAnyOf } from './conditions.ts';

const codeOf = (header: string): string => {
  try {
    ifMatchOf(header);
  } catch (error) {
    if (isProblem(error)) return error.code;
    throw error;
  }
  return 'accepted';
};

describe('If-Match', () => {
  test.each([
    ['*', ['*']],
    [' * ', ['*']],
    ['"1"', ['1']],
    ['"1.abc"', ['1']],
    ['"1.abc", "2.def"', ['1', '2']],
    ['"1.abc","1.def"', ['1']],
    [', "1" ,, "2",', ['1', '2']],
    ['"a,b", "c"', ['a,b', 'c']],
    ['W/"1", "2"', ['2']],
    ['""', ['']],
  ])('%s names %j', (header, versions) => expect(ifMatchOf(header)).toEqual(versions));

  test.each([
    ['', 'if_match.malformed'],
    [' ', 'if_match.malformed'],
    [',', 'if_match.malformed'],
    ['abc', 'if_match.malformed'],
    ['"a', 'if_match.malformed'],
    ['"a" "b"', 'if_match.malformed'],
    ['"a", *', 'if_match.malformed'],
    ['*, "a"', 'if_match.malformed'],
    ['w/"a"', 'if_match.malformed'],
    ['W/"1"', 'precondition.failed'],
    ['W/"1", W/"2"', 'precondition.failed'],
    [Array.from({ length: 11 }, (_, index) => `"${index}"`).join(), 'if_match.too_many'],
  ])('%j is answered %s', (header, code) => {
    expect(codeOf(header)).toBe(code);
  });

  test('a long header is read in little time', () => {
    const start = performance.now();
    expect(codeOf(`${'"a",'.repeat(4000)} x`)).toBe('if_match.malformed');
    expect(codeOf(' '.repeat(16_000))).toBe('if_match.malformed');
    expect(performance.now() - start).toBeLessThan(200);
  });
});

describe('under any of some versions', () => {
  const stored = '2';
  const tried: (string | undefined)[] = [];
  const work = async (version: string | undefined): Promise<string> => {
    tried.push(version);
    if (version !== undefined && version !== '*' && version !== stored) throw preconditionFailed('another version');
    return 'done';
  };

  test('is tried until one matches, and refused when none does', async () => {
    expect(await underAnyOf(undefined, work)).toBe('done');
    expect(await underAnyOf(['1', '2', '3'], work)).toBe('done');
    expect(tried).toEqual([undefined, '1', '2']);
    await expect(underAnyOf(['1', '3'], work)).rejects.toThrow('another version');
  });

  test('another refusal ends it', async () => {
    await expect(underAnyOf(['1', '2'], () => Promise.reject(notFound('thing')))).rejects.toThrow('thing');
  });
});

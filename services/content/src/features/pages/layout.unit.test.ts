import { describe, expect, test } from '@jest/globals';
import { coverOf, defaultLayout, layoutOf } from './layout.ts';

describe('layouts', () => {
  test('a page that sets nothing shows everything', () => {
    expect(layoutOf(undefined)).toEqual(defaultLayout);
  });

  test('front matter and the API are both understood', () => {
    const front = { width: 'wide', title: { visible: false }, cover: { visible: true, size: 'full' } };
    expect(layoutOf(front)).toEqual({ ...defaultLayout, width: 'wide', title: false, coverSize: 'full' });
    const api = { width: 'wide', title: false, cover: true, coverSize: 'full', coverMask: 'radial' };
    expect(layoutOf(api)).toEqual({ ...defaultLayout, ...api });
  });

  test('what is not understood stays at its default', () => {
    const odd = {
      width: 'huge',
      title: 'no',
      cover: 7,
      coverSize: null,
      outline: { visible: 'x' },
      ...JSON.parse('{"constructor": {"tags": false}}'),
    };
    expect(layoutOf(odd)).toEqual(defaultLayout);
  });

  test('covers keep what fits', () => {
    expect(coverOf(undefined)).toBeUndefined();
    expect(coverOf({ ref: { kind: 'file', file: 'f1', odd: 1 }, yPos: 12, height: 5000, refDark: 'x' })).toEqual({
      ref: { kind: 'file', file: 'f1' },
      yPos: 12,
      height: 700,
    });
    expect(coverOf({})).toEqual({ yPos: 0 });
  });
});

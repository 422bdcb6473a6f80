import { describe } from '@jest/globals';
import { batches } from './batches.ts';
import { documents } from './documents.ts';
import { guardedWrites } from './guarded-writes.ts';
import type { ReadStoreHarness } from './harness.ts';
import { lifecycle } from './lifecycle.ts';
import { queries } from './queries.ts';
import { scale } from './scale.ts';

export type { ReadStoreHarness, ReadStorePlace } from './harness.ts';

/** Everything that the read store port promises; every adapter runs it. */
export const describeReadStoreConformance = (name: string, harness: ReadStoreHarness): void => {
  describe(`read store: ${name}`, () => {
    describe('guarded writes', () => guardedWrites(harness));
    describe('queries', () => queries(harness));
    describe('documents', () => documents(harness));
    describe('batches', () => batches(harness));
    describe('lifecycle', () => lifecycle(harness));
    describe('scale', () => scale(harness));
  });
};

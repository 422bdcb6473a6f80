import { describe } from '@jest/globals';
import type { BlobStoreHarness } from './harness.ts';
import { reading } from './reading.ts';
import { storing } from './storing.ts';

export type { BlobStoreHarness, BlobStorePlace } from './harness.ts';

/** Everything that the blob store port promises; every adapter runs it. */
export const describeBlobStoreConformance = (name: string, harness: BlobStoreHarness): void => {
  describe(`blob store: ${name}`, () => {
    describe('storing', () => storing(harness));
    describe('reading', () => reading(harness));
  });
};

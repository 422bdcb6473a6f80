import { describeBlobStoreConformance } from '@bindery/testing';
import { describe } from '@jest/globals';
import { s3IsHere, s3Place } from './s3/place.testing.ts';

const withStore = s3IsHere ? describe : describe.skip;

withStore(s3IsHere ? 'S3' : 'SKIPPED: S3 (S3_ENDPOINT is not set)', () => {
  describeBlobStoreConformance('s3', { createPlace: async () => s3Place() });
});

import { describe } from '@jest/globals';
import { appending } from './appending.ts';
import { concurrency } from './concurrency.ts';
import type { EventStoreHarness } from './harness.ts';
import { lifecycle } from './lifecycle.ts';
import { model } from './model.ts';
import { payloads } from './payloads.ts';
import { reading } from './reading.ts';
import { scale } from './scale.ts';
import { subscriptions } from './subscriptions.ts';

export type { EventStoreHarness, EventStorePlace } from './harness.ts';

/** Everything that the event store port promises; every adapter runs it. */
export const describeEventStoreConformance = (name: string, harness: EventStoreHarness): void => {
  describe(`event store: ${name}`, () => {
    describe('appending', () => appending(harness));
    describe('concurrency', () => concurrency(harness));
    describe('reading', () => reading(harness));
    describe('subscriptions', () => subscriptions(harness));
    describe('payloads', () => payloads(harness));
    describe('lifecycle', () => lifecycle(harness));
    describe('model', () => model(harness));
    describe('scale', () => scale(harness));
  });
};

import { describe } from '@jest/globals';
import { delivering } from './delivering.ts';
import { fencing } from './fencing.ts';
import { forgetting } from './forgetting.ts';
import type { MessageBusHarness } from './harness.ts';
import { looking } from './looking.ts';
import { members } from './members.ts';
import { operating } from './operating.ts';
import { parking } from './parking.ts';

export { type BreakableBroker, type BrokerFaults, describeMessageBusFaults } from './faults.ts';
export type { MessageBusHarness, MessageBusPlace } from './harness.ts';
export { numbered, upTo } from './harness.ts';
export { writeKeylessToKafka } from './keyless.ts';
export { Distinct, insist, loadKeys, publishOnce } from './load.ts';
export { loseMessagesOfKafka } from './losing.ts';

/** Everything that the message bus port promises; every adapter runs it. */
export const describeMessageBusConformance = (name: string, harness: MessageBusHarness): void => {
  describe(`message bus: ${name}`, () => {
    describe('delivering', () => delivering(harness));
    describe('members', () => members(harness));
    describe('parking', () => parking(harness));
    describe('operating', () => operating(harness));
    describe('forgetting', () => forgetting(harness));
    describe('looking', () => looking(harness));
    describe('fencing', () => fencing(harness));
  });
};

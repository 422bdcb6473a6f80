import { describe, expect, test } from '@jest/globals';
import { MessageBusUnavailable } from '../../port.ts';
import { type BatchSender, WholeBatches } from './whole-batch.ts';

const message = (partition: number) => ({ key: `k${partition}`, value: 'x', partition });
const batch = { topicMessages: [{ topic: 't', messages: [message(0), message(1)] }] };

/** Acknowledges one partition a call. */
const oneByOne = (sent: number[]): BatchSender => ({
  sendBatch: async ({ topicMessages = [] }) => {
    const partition = topicMessages[0]?.messages[0]?.partition ?? -1;
    sent.push(partition);
    return [{ topicName: 't', partition, errorCode: 0, baseOffset: '0' }];
  },
});

describe('a batch', () => {
  test('is sent until each partition is acknowledged', async () => {
    const sent: number[] = [];
    const answers = await new WholeBatches().send(oneByOne(sent), batch, () => false);
    expect(answers.map(({ partition }) => partition)).toEqual([0, 1]);
    expect(sent).toEqual([0, 1]);
  });

  test('that is abandoned before all of it is acknowledged fails, so that no transaction is committed with a part of it', async () => {
    const sent: number[] = [];
    const sending = new WholeBatches().send(oneByOne(sent), batch, () => sent.length > 0);
    await expect(sending).rejects.toBeInstanceOf(MessageBusUnavailable);
    expect(sent).toEqual([0]);
  });
});

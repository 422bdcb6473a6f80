import { connect } from 'node:net';
import { createInProcessClient, eraseHandlers } from '@bindery/service-kit';
import { recordingTelemetry } from '@bindery/testing/telemetry';
import { afterEach, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

let instance: FakeInstance | undefined;
afterEach(async () => {
  await instance?.stop();
  instance = undefined;
});

test('what one connection asked for ahead leaves no place behind when it breaks', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const telemetry = recordingTelemetry();
  const started = await startFakeInstance(
    { admission: { inFlight: 16, waiting: 32, waitMs: 60_000, perCaller: 8 } },
    {
      telemetry,
      services: createInProcessClient(
        eraseHandlers({
          listThings: async () => {
            await held;
            return { status: 200, body: { items: [], count: 0 } };
          },
        }),
      ),
      resolveToken: async () => ({
        ...{ kind: 'user', id: 'ada', tokenId: 't', instanceAdmin: false, organizations: {} },
      }),
    },
  );
  instance = started;
  const transfers = async (figure: string): Promise<number> => {
    const lanes = await telemetry.gauges(`bindery_requests_${figure}`);
    return lanes.find(({ labels }) => labels?.lane === 'transfers')?.value ?? Number.NaN;
  };
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
  };
  try {
    for (let round = 0; round < 5; round += 1) {
      // An answer that does not come, behind which the documents stay: half of them have places, the others wait.
      const socket = connect(started.port, '127.0.0.1');
      const ahead = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(16);
      socket.write(`GET /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n\r\n${ahead}`);
      await until(async () => (await transfers('in_flight')) === 8 && (await transfers('waiting')) === 8);
      socket.destroy();
      await until(async () => (await transfers('waiting')) === 0);
      // All are told within one turn of the event loop.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(await transfers('in_flight')).toBe(0);
    }
  } finally {
    release();
  }
  expect((await fetch(`${started.url}/openapi.json`)).status).toBe(200);
});

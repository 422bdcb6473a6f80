import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { EventStoreDbDouble } from './double.ts';
import type { Fault } from './faults.ts';

const MAX_BODY = 10_000;

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_BODY) throw new RangeError('the body is too long');
  }
  return JSON.parse(text) as unknown;
};

const stateOf = (double: EventStoreDbDouble): unknown => ({
  ...double.counters,
  events: double.log.entries.length,
  openSubscriptions: double.openSubscriptions,
  faults: double.faults.count,
});

/**
 * Faults of a double that is a process of its own, over HTTP: `POST /faults` with a {@link Fault} adds one, `DELETE /faults`
 * takes all away, `POST /disconnect` and `POST /end-subscriptions` do that once, `GET /` shows counters.
 */
export const serveControl = (double: EventStoreDbDouble): Server =>
  createServer((request, response) => {
    const actions: Readonly<Record<string, () => unknown>> = {
      'GET /': () => undefined,
      'POST /faults': async () => double.faults.add((await bodyOf(request)) as Fault),
      'DELETE /faults': () => double.faults.clear(),
      'POST /disconnect': () => double.disconnect(),
      'POST /end-subscriptions': () => double.endSubscriptions(),
    };
    const action = actions[`${request.method} ${request.url}`];
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    };
    if (action === undefined) return answer(404, { error: 'no such action', actions: Object.keys(actions) });
    Promise.resolve()
      .then(action)
      .then(
        () => answer(200, stateOf(double)),
        (error: unknown) => answer(400, { error: String(error) }),
      );
  });

import { isProblem, Problem } from '../errors.ts';
import type { OperationContext, ServiceClient } from '../operation.ts';
import { anonymous, type Principal } from '../principal.ts';
import type { Transport } from './transport.ts';
import { unreadAnswer } from './unread-answer.ts';
import { callerHeader, callPath, callText, fromWire, usualWithinMs, type WireCall, type WireResult } from './wire.ts';

interface Called {
  readonly id: string;
  readonly method: string;
  readonly reads?: true;
}

/**
 * Calls operations of a service in another process (DESIGN section 3). Failures come back as the same `Problem`.
 * @param options `fromOutside`: whoever the call is for counts in the service, as one of several callers. For the gateway alone:
 *   a call that a service makes in the course of another must not wait for places which those hold that wait for it. It
 *   passes most answers on, so they come as {@link UnreadAnswer} where they can
 */
export function createHttpClient(
  transport: Transport,
  { fromOutside = false }: { readonly fromOutside?: boolean } = {},
): ServiceClient {
  const call = async (
    { id, method, reads }: Called,
    context: OperationContext,
    request: WireCall['request'],
  ): Promise<unknown> => {
    const { deadlineAt } = context;
    const timeoutMs = deadlineAt === undefined ? usualWithinMs : deadlineAt - performance.now();
    const wire: WireCall = {
      context: {
        principal: context.principal,
        requestId: context.requestId,
        now: context.now.toISOString(),
        idSeed: context.ids.id(),
        baseUrl: context.baseUrl,
        withinMs: Math.ceil(timeoutMs),
      },
      request,
    };
    const response = await transport.send({
      path: `${callPath}${encodeURIComponent(id)}`,
      template: `${callPath}{operation}`,
      attributes: { 'bindery.operation': id },
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-request-id': context.requestId,
        ...(fromOutside &&
          isSomebody(context.principal) && { [callerHeader]: encodeURIComponent(context.principal.id) }),
        ...(context.traceparent && { traceparent: context.traceparent }),
      },
      body: callText(wire),
      signal: context.signal,
      ...(deadlineAt !== undefined && { timeoutMs }),
      harmless: method === 'GET' || reads === true,
    });
    try {
      const text = await response.body.text();
      return (fromOutside ? unreadAnswer(text) : undefined) ?? resultOf(JSON.parse(text));
    } catch (error) {
      if (isProblem(error)) throw error;
      throw new Problem('unavailable', 'service.unavailable', 'A service cannot be reached at the moment.', {
        retryAfter: 1,
        cause: error,
      });
    }
  };
  // The service answers what the operation declares: the handlers of its other end are typed by the same contract.
  return { call } as unknown as ServiceClient;
}

/** All whom nobody knows are not one caller: the gateway has counted them by their addresses. */
const isSomebody = ({ kind, id }: Principal): boolean => kind === 'user' && id !== anonymous.id;

function resultOf(result: unknown): unknown {
  if (typeof result === 'object' && result !== null) {
    const wire = result as WireResult;
    if ('answer' in wire) return wire.answer;
    if ('problem' in wire) throw fromWire(wire.problem);
  }
  throw new Error('the answer of the service is not understood');
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from '@bindery/telemetry';
import { callerNetwork } from '../pipeline/callers.ts';

/** How many connections are kept. */
export interface ConnectionLimits {
  /** Of everybody. */
  readonly all: number;
  /** Of one address; absent where the addresses are those of proxies. */
  readonly perAddress?: number;
}

/**
 * Requests that may wait for their answers on one connection. Clients and proxies send the next one when they have the answer;
 * who sends thousands ahead makes work that answers in turn cannot share out.
 */
const mostUnanswered = 32;

interface Connection {
  readonly socket: Socket;
  /** Requests that came whole, as far as their headers go, and are not answered. */
  requests: number;
}

/**
 * Bounds the connections of a server: of one address, and of all. Where there are too many, one gives way on which no request
 * is under way, the one of which longest nothing was heard; whoever only holds connections loses them to whoever comes.
 * Where there is none of that kind, the new one is closed; so is one on which too much waits for an answer.
 */
export const limitConnections = (server: Server, limits: ConnectionLimits, metrics: Metrics): void => {
  const { all, perAddress = Number.POSITIVE_INFINITY } = limits;
  /** By address, those of which something was heard last at the end. */
  const connections = new Map<string, Map<Socket, Connection>>();
  /** Those of the same address, so that it is looked at once for each connection. */
  const beside = new WeakMap<Socket, Map<Socket, Connection>>();
  let open = 0;
  const closed = metrics.counter('bindery_connections_closed_total', 'Connections that were closed for others.', [
    'reason',
  ]);
  metrics.gauge('bindery_connections', 'Open connections of callers.', [], () => [{ value: open }]);

  const forget = (address: string, socket: Socket): void => {
    const own = connections.get(address);
    if (own?.delete(socket) !== true) return;
    open -= 1;
    if (own.size === 0) connections.delete(address);
  };
  const giveWay = (address: string, reason: string): boolean => {
    for (const { socket, requests } of connections.get(address)?.values() ?? []) {
      if (requests > 0) continue;
      forget(address, socket);
      socket.destroy();
      closed.add(1, { reason });
      return true;
    }
    return false;
  };
  const mostOf = (): string => {
    let most = '';
    for (const [address, { size }] of connections) if (size > (connections.get(most)?.size ?? 0)) most = address;
    return most;
  };

  server.on('connection', (socket: Socket) => {
    const address = callerNetwork(socket.remoteAddress ?? 'unknown');
    const tooMany = (connections.get(address)?.size ?? 0) >= perAddress;
    const reason = tooMany ? 'address' : 'all';
    if ((tooMany && !giveWay(address, reason)) || (open >= all && !giveWay(mostOf(), reason))) {
      closed.add(1, { reason });
      socket.destroy();
      return;
    }
    const own = connections.get(address) ?? new Map<Socket, Connection>();
    connections.set(address, own.set(socket, { socket, requests: 0 }));
    beside.set(socket, own);
    open += 1;
    socket.once('close', () => forget(address, socket));
  });

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const own = beside.get(socket);
    const connection = own?.get(socket);
    if (own === undefined || connection === undefined) return;
    connection.requests += 1;
    if (connection.requests > mostUnanswered) {
      if (!socket.destroyed) closed.add(1, { reason: 'pipelined' });
      socket.destroy();
    }
    own.delete(socket);
    own.set(socket, connection);
    response.on('close', () => {
      connection.requests -= 1;
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, onRequest);
};

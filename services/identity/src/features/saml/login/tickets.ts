import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a ticket is for; one made for one purpose is worth nothing for another. */
export type TicketPurpose = 'relay-state' | 'browser' | 'finish';

/**
 * Short texts that we hand out and get back, signed and limited in time: `<value>.<expiry>.<mac>`. With a request id as
 * value they fit into the 80 characters that SAML allows for `RelayState`.
 */
export interface Tickets {
  /** @param values of [A-Za-z0-9_-] each */
  issue(purpose: TicketPurpose, providerId: string, values: readonly string[], expiresAt: Date): string;
  /** The values; undefined when it is not ours, for something else, or over. */
  read(
    purpose: TicketPurpose,
    providerId: string,
    ticket: string | null | undefined,
    now: Date,
  ): readonly string[] | undefined;
}

const macBytes = 16;
const shape = /^(?:[A-Za-z0-9_-]{0,800}\.){1,4}[0-9a-z]{1,9}\.[A-Za-z0-9_-]{22}$/;

/** @param secret the same in every replica */
export const createTickets = (secret: string): Tickets => {
  const mac = (purpose: TicketPurpose, providerId: string, body: string): Buffer =>
    createHmac('sha256', secret).update(`${purpose}\n${providerId}\n${body}`).digest().subarray(0, macBytes);
  return {
    issue(purpose, providerId, values, expiresAt) {
      const body = [...values, Math.floor(expiresAt.getTime() / 1000).toString(36)].join('.');
      return `${body}.${mac(purpose, providerId, body).toString('base64url')}`;
    },
    read(purpose, providerId, ticket, now) {
      if (ticket === null || ticket === undefined || !shape.test(ticket)) return undefined;
      const cut = ticket.lastIndexOf('.');
      const body = ticket.slice(0, cut);
      const given = Buffer.from(ticket.slice(cut + 1), 'base64url');
      if (given.length !== macBytes || !timingSafeEqual(given, mac(purpose, providerId, body))) return undefined;
      const values = body.split('.');
      const expiry = Number.parseInt(values.pop() ?? '', 36);
      return expiry * 1000 > now.getTime() ? values : undefined;
    },
  };
};

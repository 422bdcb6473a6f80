import { createHmac, timingSafeEqual } from 'node:crypto';

/** What is in a one-time link after the address of the page. */
export interface LinkSecrets {
  write(userId: string, linkId: string): string;
  /** undefined: not made by this instance. */
  read(link: string): { readonly userId: string; readonly linkId: string } | undefined;
}

const format = /^([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})$/;

/**
 * Links whose secret is made from their id: whoever sends the mail makes it again, and no store holds it.
 * @param secret for this purpose alone, from the instance key
 */
export const createLinkSecrets = (secret: string): LinkSecrets => {
  const sign = (userId: string, linkId: string): Buffer =>
    createHmac('sha256', secret).update(`${userId}.${linkId}`).digest();
  return {
    write: (userId, linkId) => `${userId}.${linkId}.${sign(userId, linkId).toString('base64url')}`,
    read(link) {
      const [, userId, linkId, mac = ''] = format.exec(link) ?? [];
      if (userId === undefined || linkId === undefined) return undefined;
      return timingSafeEqual(Buffer.from(mac, 'base64url'), sign(userId, linkId)) ? { userId, linkId } : undefined;
    },
  };
};

/** Path of the page that a link opens. */
export const linkPath = '/sign-in/link/';

import { createHmac, type KeyObject } from 'node:crypto';
import { decrypt, encrypt } from '@bindery/service-kit';
import type { KeyStore } from './key-store.ts';

/** What identifies a person. Only this module, read models and answers hold it in clear. */
export interface PersonalData {
  readonly email?: string;
  readonly displayName?: string;
  readonly photoURL?: string;
  /** Where a request came from. */
  readonly address?: string;
}

/** Personal data as it stands in events. */
export interface SealedPersonalData {
  /** AES-256-GCM under the user's key; user id and event id are authenticated with it, so it fits nowhere else. */
  readonly sealed: string;
  /** Keyed marks of the values, by field. */
  readonly marks: Readonly<Record<string, string>>;
}

/** Shown in place of somebody whose key is gone. */
export const erasedDisplayName = 'Deleted user';

/** Seals and opens personal data with the keys of their owners. */
export interface PersonalDataSealer {
  /** @param eventId the event that will carry it */
  seal(userId: string, eventId: string, data: PersonalData): Promise<SealedPersonalData>;
  /** The same for somebody who must have a key already; undefined when it is gone. */
  sealKnown(userId: string, eventId: string, data: PersonalData): Promise<SealedPersonalData | undefined>;
  /** undefined: the key is gone, the data is erased. @throws Error when it was tampered with */
  open(userId: string, eventId: string, sealed: SealedPersonalData): Promise<PersonalData | undefined>;
  /**
   * Seals any other text about a user (a password's hash, an address).
   * @param purpose authenticated with it: what it is, and the id of the one thing it belongs to, so that it fits nowhere else
   */
  sealText(userId: string, purpose: string, text: string): Promise<string>;
  /** undefined: the key is gone. @throws Error when it was tampered with */
  openText(userId: string, purpose: string, sealed: string): Promise<string | undefined>;
}

const associated = (userId: string, eventId: string): string => `${userId}:${eventId}`;

const sealWith = (key: KeyObject, userId: string, eventId: string, data: PersonalData): SealedPersonalData => {
  const mark = (field: string, value: string): string =>
    createHmac('sha256', key).update(`${field}:${value}`).digest('base64url').slice(0, 22);
  const marks = Object.fromEntries(
    Object.entries(data).flatMap(([field, value]) => (value === undefined ? [] : [[field, mark(field, value)]])),
  );
  return { sealed: encrypt(key, Buffer.from(JSON.stringify(data)), associated(userId, eventId)), marks };
};

export const createSealer = (keys: KeyStore): PersonalDataSealer => ({
  seal: async (userId, eventId, data) => sealWith(await keys.ensure(userId), userId, eventId, data),
  async sealKnown(userId, eventId, data) {
    const key = await keys.get(userId);
    return key && sealWith(key, userId, eventId, data);
  },
  async open(userId, eventId, { sealed }) {
    const key = await keys.get(userId);
    if (key === undefined) return undefined;
    const plain = decrypt(key, sealed, associated(userId, eventId));
    return JSON.parse(Buffer.from(plain).toString('utf8')) as PersonalData;
  },
  async sealText(userId, purpose, text) {
    return encrypt(await keys.ensure(userId), Buffer.from(text), associated(userId, purpose));
  },
  async openText(userId, purpose, sealed) {
    const key = await keys.get(userId);
    return key === undefined
      ? undefined
      : Buffer.from(decrypt(key, sealed, associated(userId, purpose))).toString('utf8');
  },
});

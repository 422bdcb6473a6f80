import { hash, type KeyObject } from 'node:crypto';
import type { Cache } from '@bindery/cache';
import { decrypt, encrypt, keyFrom } from '@bindery/service-kit';
import type { Vault } from '../../shared/vault.ts';
import type { FlowSecrets } from './provider.ts';

/** A sign-in under way: what was sent along, and where to go afterwards. */
export interface Flow extends FlowSecrets {
  readonly returnTo: string;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
}

/** Name of the cookie that ties a sign-in to the browser that began it. */
export const flowCookie = 'oidc';
/** How long people may take at the provider, in seconds. */
export const flowSeconds = 600;

/** Keeps what belongs to a sign-in in the browser, sealed, so that nothing is stored for people who never come back. */
export interface Flows {
  seal(flow: Flow): string;
  /** undefined: not ours, or too old. */
  open(sealed: string, now: number): Flow | undefined;
  /** True once for a state. */
  useOnce(state: string): Promise<boolean>;
}

const associated = 'oidc-flow';

export const createFlows = (vault: Vault, cache: Pick<Cache, 'acquire'>): Flows => {
  const key: KeyObject = keyFrom(Buffer.from(vault.secret('oidc-flow'), 'base64url'));
  return {
    seal: (flow) => encrypt(key, Buffer.from(JSON.stringify(flow)), associated),
    open(sealed, now) {
      let flow: Flow;
      try {
        flow = JSON.parse(Buffer.from(decrypt(key, sealed, associated)).toString('utf8'));
      } catch {
        // Whatever else somebody put into the cookie: it was not sealed here.
        return undefined;
      }
      return now - flow.begunAt > flowSeconds * 1000 ? undefined : flow;
    },
    // Remembered longer than a flow lives; while the cache is away, by this process. A repeat elsewhere still shows a code
    // that the provider takes once.
    useOnce: async (state) =>
      (await cache.acquire(`sign-in:oidc:${hash('sha256', state)}`, crypto.randomUUID(), 2 * flowSeconds * 1000)) !==
      undefined,
  };
};

/** A path on this instance; everything else becomes the account page, so that nobody is led elsewhere after signing in. */
export const localPath = (path: string | undefined): string =>
  path !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,2000}$/.test(path) ? path : '/account';

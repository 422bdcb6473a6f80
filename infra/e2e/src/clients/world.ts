import { type Running, startProduct } from '@bindery/testing/product';
import { GitBookAPI } from '@gitbook/api';
import { GitBookAPI as GitBookAPI146 } from 'gitbook-api-146';
import { ok } from '../support.ts';
import { createRecorder, type Recorder } from './recorder.ts';

/** Somebody with both of the public clients. */
export interface Caller {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  /** The unmodified client 0.202.0. */
  readonly api: GitBookAPI;
  /** The unmodified client 0.146.0, for the operations that 0.202.0 does not know. */
  readonly api146: GitBookAPI146;
}

/** One running product with an administrator and two others, and what was called there. */
export interface World {
  readonly product: Running;
  readonly recorder: Recorder;
  /** Administers the instance and the first organization. */
  readonly admin: Caller;
  readonly ada: Caller;
  readonly bob: Caller;
  /** The first organization, of which all three are members. */
  readonly organization: string;
}

/** Starts the product as its users do; loopback is open to its fetches. */
export const startWorld = async (): Promise<World> => {
  const product = await startProduct({ env: { BINDERY_FETCH_ALLOW: '127.0.0.1' } });
  const recorder = createRecorder();
  const serviceBinding = { fetch: recorder.fetch };
  const call = async (token: string): Promise<Caller> => {
    const options = { endpoint: product.url, authToken: token, serviceBinding };
    const api = new GitBookAPI(options);
    const { data } = await api.user.getAuthenticatedUser();
    return { id: data.id, email: data.email ?? '', token, api, api146: new GitBookAPI146(options) };
  };
  const register = async (name: string): Promise<Caller> => {
    const body = { email: `${name}@example.com`, displayName: name };
    const { id } = await ok<{ id: string }>(product, 'POST', '/admin/v1/users', body);
    const { token } = await ok<{ token: string }>(product, 'POST', `/admin/v1/users/${id}/tokens`, {});
    return call(token);
  };
  const admin = await call(product.token);
  const { items } = (await admin.api.orgs.listOrganizationsForAuthenticatedUser()).data;
  const organization = items[0]?.id ?? '';
  const [ada, bob] = [await register('ada'), await register('bob')];
  for (const [{ id }, role] of [
    [ada, 'edit'],
    [bob, 'read'],
  ] as const)
    await ok(product, 'PUT', `/admin/v1/orgs/${organization}/members/${id}`, { role });
  return { product, recorder, admin, ada, bob, organization };
};

/** Waits until `look` answers something. @throws Error after `seconds` */
export const eventually = async <T>(what: string, look: () => Promise<T | undefined>, seconds = 15): Promise<T> => {
  const until = performance.now() + seconds * 1_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > until) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

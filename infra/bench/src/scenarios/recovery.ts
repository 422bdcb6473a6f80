import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { startProduct } from '@bindery/testing/product';
import { call, organizationOf, spaceOfPages } from '../api.ts';
import { load } from '../load.ts';
import { atLeast, atMost, type Figure, holds, noted } from '../report.ts';

interface Status {
  readonly services: readonly { readonly events: number }[];
}

/** A sample of answers, by path, that must be the same bytes after a rebuild. */
const answersOf = async (
  target: { url: string; token: string },
  organization: string,
  space: { space: string; pageIds: string[] },
): Promise<ReadonlyMap<string, string>> => {
  const paths = [
    `/v1/orgs/${organization}/spaces?limit=1000`,
    `/v1/orgs/${organization}/members`,
    '/v1/user',
    '/v1/orgs',
    `/v1/spaces/${space.space}/content`,
    `/v1/spaces/${space.space}/change-requests?status=open&limit=1000`,
    ...space.pageIds.slice(0, 50).map((id) => `/v1/spaces/${space.space}/content/page/${id}?format=document`),
    `/v1/orgs/${organization}/search?query=workflow`,
  ];
  const answers = new Map<string, string>();
  for (const path of paths) answers.set(path, JSON.stringify(await call(target, 'GET', path)));
  return answers;
};

const differing = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] =>
  [...before].flatMap(([path, answer]) => (after.get(path) === answer ? [] : [path]));

/** Answers when nobody writes any more: the load ends by closing its connections, on requests that are still under way. */
const settledAnswers = async (...of: Parameters<typeof answersOf>): Promise<ReadonlyMap<string, string>> => {
  let answers = await answersOf(...of);
  for (let tries = 0; tries < 20; tries += 1) {
    const again = await answersOf(...of);
    if (differing(answers, again).length === 0) return again;
    answers = again;
  }
  throw new Error('answers do not come to rest');
};

/** Rebuild, restart and idle memory with 100,000 events stored. */
export const recovery = async (): Promise<Figure[]> => {
  let product = await startProduct();
  const { dataDir, token } = product;
  try {
    const organization = await organizationOf(product);
    const space = await spaceOfPages(product, organization, 500);
    const events = async (): Promise<number> =>
      (await call<Status>(product, 'GET', '/admin/v1/status')).services.reduce(
        (sum, service) => sum + service.events,
        0,
      );
    const body = JSON.stringify({ subject: 'Fill' });
    while ((await events()) < 100_000)
      await load({
        url: `${product.url}/v1/spaces/${space.space}/change-requests`,
        token,
        method: 'POST',
        body,
        connections: 20,
        seconds: 3,
      });
    const stored = await events();
    const before = await settledAnswers(product, organization, space);
    const startedAt = performance.now();
    await call(product, 'POST', '/admin/v1/projections/rebuild');
    const perSecond = stored / ((performance.now() - startedAt) / 1000);
    const after = await answersOf(product, organization, space);
    const changed = differing(before, after);
    for (const path of changed) console.error(`not the same after the rebuild: ${path}`);

    await product.stop('SIGKILL');
    product = await startProduct({ dataDir, token });
    const readyMs = product.readyMs;
    await answersOf(product, organization, space);
    // Idle: no request for a while, so that the collector has had its turn.
    await wait(5_000);
    return [
      noted('Events stored', stored),
      atLeast('Rebuild of everything', perSecond, 20_000, ' events/s'),
      holds('Same bytes after the rebuild', changed.length === 0),
      atMost('Ready after kill -9', readyMs / 1000, 2, ' s'),
      atMost('Idle memory', product.memory() / 2 ** 20, 250, ' MB'),
    ];
  } finally {
    await product.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

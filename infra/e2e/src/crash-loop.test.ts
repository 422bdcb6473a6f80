import { rmSync } from 'node:fs';
import { type Running, startProduct } from '@bindery/testing/product';
import { afterAll, describe, expect, test } from '@jest/globals';
import { eventually } from './clients/world.ts';
import { ok, request } from './support.ts';

const rounds = Number(process.env.CRASH_ROUNDS ?? 3);
const writers = 8;

interface Status {
  readonly services: readonly { readonly reactors?: readonly { readonly state: string; readonly lag: number }[] }[];
}

interface ChangeRequest {
  readonly id: string;
  readonly number: number;
  readonly subject: string;
  readonly status: string;
}

/**
 * `kill -9` at random moments while writers create change requests, edit and merge them. What was acknowledged must be
 * there afterwards, once; numbers must have no gaps; a repeat with the same idempotency key must not write twice.
 */
describe('kill -9 during writes', () => {
  let product: Running | undefined;
  const kept: { dataDir?: string } = {};
  afterAll(async () => {
    await product?.stop('SIGKILL');
    if (kept.dataDir) rmSync(kept.dataDir, { recursive: true, force: true });
  });

  test(`${rounds} rounds: nothing acknowledged is lost, nothing is there twice`, async () => {
    product = await startProduct();
    kept.dataDir = product.dataDir;
    const { token, dataDir } = product;
    const organization = (await ok<{ items: { id: string }[] }>(product, 'GET', '/v1/orgs')).items[0]?.id;
    const space = (
      await ok<{ id: string }>(product, 'POST', `/v1/orgs/${organization}/spaces`, { title: 'Crash', empty: true })
    ).id;
    const acknowledged = new Map<string, string>();
    const mergedPages = new Set<string>();
    const unanswered: { key: string; subject: string }[] = [];
    let serial = 0;

    const writeUntilDead = async (target: Running): Promise<void> => {
      for (;;) {
        serial += 1;
        const subject = `Change ${serial}`;
        const key = `crash-${serial}`;
        try {
          const created = await request(target, 'POST', `/v1/spaces/${space}/change-requests`, {
            body: { subject },
            headers: { 'idempotency-key': key },
          });
          if (created.status !== 201) throw new Error(`create answered ${created.status}: ${created.text}`);
          const { id } = created.body as ChangeRequest;
          acknowledged.set(subject, id);
          if (serial % 3 !== 0) continue;
          const content = await request(target, 'POST', `/v1/spaces/${space}/change-requests/${id}/content`, {
            body: {
              changes: [{ operation: 'insert_page', title: subject, document: { markdown: `Body of ${subject}` } }],
            },
          });
          expect(content.status).toBe(200);
          const merge = await request(target, 'POST', `/v1/spaces/${space}/change-requests/${id}/merge`, {});
          expect([merge.status, (merge.body as { result: string }).result]).toEqual([200, 'merge']);
          mergedPages.add(subject);
        } catch (error) {
          // Not `instanceof`: errors of Node come from another realm than the test's.
          const { message, cause } = error as { message?: unknown; cause?: unknown };
          if (/fetch failed|terminated|socket|ECONN|aborted/i.test(`${message} ${String(cause)}`)) {
            if (!acknowledged.has(subject)) unanswered.push({ key, subject });
            return;
          }
          throw error;
        }
      }
    };

    for (let round = 0; round < rounds; round += 1) {
      const target = product;
      const work = Promise.all(Array.from({ length: writers }, () => writeUntilDead(target)));
      const before = acknowledged.size;
      // The moment is random, but there must be something to lose: at least 20 acknowledged writes in this round.
      const enough = 20 + Math.floor(Math.random() * 60);
      while (acknowledged.size - before < enough) await new Promise((resolve) => setImmediate(resolve));
      await target.stop('SIGKILL');
      await work;
      product = await startProduct({ dataDir, token });
    }

    // A merge that the kill cut in two is finished after the start.
    const restarted = product;
    await eventually('reactors are at the end of the log', async () => {
      const { services } = await ok<Status>(restarted, 'GET', '/admin/v1/status');
      const reactors = services.flatMap((service) => service.reactors ?? []);
      return (reactors.length > 0 && reactors.every(({ state, lag }) => state === 'live' && lag === 0)) || undefined;
    });

    // The unanswered ones are sent again with their keys: each exists at most once afterwards.
    for (const { key, subject } of unanswered) {
      const again = await request(product, 'POST', `/v1/spaces/${space}/change-requests`, {
        body: { subject },
        headers: { 'idempotency-key': key },
      });
      expect(again.status).toBe(201);
      acknowledged.set(subject, (again.body as ChangeRequest).id);
    }

    const found: ChangeRequest[] = [];
    for (const status of ['draft', 'open', 'merged', 'archived']) {
      for (let page: string | undefined = ''; page !== undefined; ) {
        const list: { items: ChangeRequest[]; next?: { page: string } } = await ok(
          product,
          'GET',
          `/v1/spaces/${space}/change-requests?status=${status}&limit=500${page ? `&page=${encodeURIComponent(page)}` : ''}`,
        );
        found.push(...list.items);
        page = list.next?.page;
      }
    }
    const bySubject = new Map(found.map((one) => [one.subject, one.id]));
    expect(bySubject.size).toBe(found.length);
    for (const [subject, id] of acknowledged) expect([subject, bySubject.get(subject)]).toEqual([subject, id]);
    expect(found.map((one) => one.number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: found.length }, (_, index) => index + 1),
    );

    const { pages } = await ok<{ pages: { title: string }[] }>(product, 'GET', `/v1/spaces/${space}/content/pages`);
    const titles = pages.map((page) => page.title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const subject of mergedPages) expect(titles).toContain(subject);
    // Merged is what has its pages in the space, and nothing else.
    const merged = found.filter(({ status }) => status === 'merged').map(({ subject }) => subject);
    expect(merged.toSorted()).toEqual(titles.toSorted());
    const settled = await ok<{ changeRequests: number }>(product, 'GET', `/v1/spaces/${space}`);
    expect(settled.changeRequests).toBe(found.length);

    // Projections agree with the events: a rebuild changes no answer.
    const answers = async (): Promise<string[]> =>
      Promise.all(
        [
          `/v1/spaces/${space}`,
          `/v1/spaces/${space}/content`,
          `/v1/spaces/${space}/change-requests?status=merged&limit=1000`,
        ].map(async (path) => JSON.stringify(await ok(product as Running, 'GET', path))),
      );
    const before = await answers();
    await ok(product, 'POST', '/admin/v1/projections/rebuild');
    expect(await answers()).toEqual(before);
  }, 180_000);
});

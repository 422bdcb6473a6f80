import { startProduct } from '@bindery/testing/product';
import { call, organizationOf, quantile, spaceOfPages, timed } from '../api.ts';
import { load } from '../load.ts';
import { atMost, type Figure, noted } from '../report.ts';
import { commentScale } from './comments.ts';
import { linkedProse, linkScale } from './links.ts';

/** A page read and a one-page merge in a space of 10,000 pages against one of 100; then the same of links and comments. */
export const scale = async (seconds: number): Promise<Figure[]> => {
  const product = await startProduct();
  try {
    const organization = await organizationOf(product);
    const small = await spaceOfPages(product, organization, 100, linkedProse);
    const filled = performance.now();
    const large = await spaceOfPages(product, organization, 10_000, linkedProse);
    const fillSeconds = (performance.now() - filled) / 1000;

    const page = (of: { space: string; pageIds: string[] }): string =>
      `${product.url}/v1/spaces/${of.space}/content/page/${of.pageIds[Math.floor(of.pageIds.length * 0.57)]}`;
    const reads: { small: number[]; large: number[] } = { small: [], large: [] };
    for (let round = 0; round < 3; round += 1) {
      reads.small.push((await load({ url: page(small), token: product.token, connections: 10, seconds })).throughput);
      reads.large.push((await load({ url: page(large), token: product.token, connections: 10, seconds })).throughput);
    }

    const mergeOne = async (of: { space: string; pageIds: string[] }, n: number): Promise<number> => {
      const request = await call<{ id: string }>(product, 'POST', `/v1/spaces/${of.space}/change-requests`, {
        subject: `Change ${n}`,
      });
      const path = `/v1/spaces/${of.space}/change-requests/${request.id}`;
      await call(product, 'POST', `${path}/content`, {
        changes: [{ operation: 'update_page', page: of.pageIds[n], document: { markdown: `Changed ${n}` } }],
      });
      return timed(() => call(product, 'POST', `${path}/merge`));
    };
    const merges: { small: number[]; large: number[] } = { small: [], large: [] };
    for (let n = 1; n <= 40; n += 1) {
      merges.small.push(await mergeOne(small, n));
      merges.large.push(await mergeOne(large, n));
    }
    return [
      atMost('GET page, 10,000 pages as multiple of 100', quantile(reads.small, 0.5) / quantile(reads.large, 0.5), 1.5),
      noted('GET page in 10,000', quantile(reads.large, 0.5), '/s'),
      atMost(
        'Merge of one page, 10,000 pages as multiple of 100',
        quantile(merges.large, 0.5) / quantile(merges.small, 0.5),
        3,
      ),
      noted('Merge of one page in 10,000, median', quantile(merges.large, 0.5), ' ms'),
      noted('Filling 10,000 pages through the API', fillSeconds, ' s'),
      ...(await linkScale(product, small, large)),
      ...(await commentScale(product, organization)),
    ];
  } finally {
    await product.stop();
  }
};

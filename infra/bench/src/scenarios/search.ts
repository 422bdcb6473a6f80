import { startProduct } from '@bindery/testing/product';
import { call, organizationOf, quantile, spaceOfPages, timed } from '../api.ts';
import { atMost, type Figure } from '../report.ts';

const queries = [
  'workflow',
  'wor',
  'event store',
  'page 123',
  'publish search',
  'm',
  'cluster queue request',
  'section 4',
  'zzz',
  'tok',
];

/** Latency of organization search over 20,000 pages, one request at a time, through the API. */
export const searching = async (): Promise<Figure[]> => {
  const product = await startProduct();
  try {
    const organization = await organizationOf(product);
    for (let n = 0; n < 20; n += 1) await spaceOfPages(product, organization, 1000);
    const search = (query: string): Promise<unknown> =>
      call(product, 'GET', `/v1/orgs/${organization}/search?query=${encodeURIComponent(query)}`);
    for (const query of queries) await search(query);
    const times: number[] = [];
    for (let round = 0; round < 20; round += 1)
      for (const query of queries) times.push(await timed(() => search(query)));
    return [atMost('Search over 20,000 pages, p95', quantile(times, 0.95), 20, ' ms')];
  } finally {
    await product.stop();
  }
};

import { startProduct } from '@bindery/testing/product';
import { call, naturalProse, organizationOf, quantile, spaceOfPages, timed } from '../api.ts';
import { atMost, type Figure, noted } from '../report.ts';

/** Common and rare words, several at once, beginnings of words, and something that is nowhere. */
const queries = [
  'workflow',
  'wor',
  'event store',
  'publish search',
  'm',
  'cluster queue request',
  'tok',
  'bra doc',
  naturalProse(99, 12).trim(),
  'nowheretobefound',
];
/** On every page, in a title and in the text: the worst that a query can ask for. */
const everywhere = 'ubiquitous';

/** Latency of organization search over 20,000 pages of natural text, one request at a time, through the API. */
export const searching = async (): Promise<Figure[]> => {
  const product = await startProduct();
  try {
    const organization = await organizationOf(product);
    for (let space = 0; space < 20; space += 1) {
      const text = (n: number, length: number): string => `${naturalProse(space * 1000 + n, length)} ${everywhere}`;
      await spaceOfPages(
        product,
        organization,
        1000,
        text,
        (n) => `${naturalProse(space * 1000 + n + 500_000, 20)}${n}`,
      );
    }
    const search = (query: string): Promise<unknown> =>
      call(product, 'GET', `/v1/orgs/${organization}/search?query=${encodeURIComponent(query)}`);
    for (const query of [...queries, everywhere]) await search(query);
    const times: number[] = [];
    const worst: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      for (const query of queries) times.push(await timed(() => search(query)));
      worst.push(await timed(() => search(everywhere)));
    }
    return [
      atMost('Search over 20,000 pages, p95', quantile(times, 0.95), 20, ' ms'),
      noted('Search for a word that is on all of them, median', quantile(worst, 0.5), ' ms'),
    ];
  } finally {
    await product.stop();
  }
};

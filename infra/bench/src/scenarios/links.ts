import { call, prose, quantile, timed } from '../api.ts';
import { atMost, type Figure, noted } from '../report.ts';

interface Target {
  readonly url: string;
  readonly token: string;
}
interface SpaceOfPages {
  readonly space: string;
  readonly pageIds: readonly string[];
}

const samples = 40;

/** Prose that ends with a link: every text leads to an address of its own, and each tenth to a page that is missing too. */
export const linkedProse = (seed: number, length: number): string => {
  const missing = seed % 10 === 0 ? ` and [nowhere](/pages/missing${seed})` : '';
  return `${prose(seed, length)}[site](https://example.com/${seed})${missing}`;
};

/** Lists of links and backlinks in a large space against a small one, both of `linkedProse`; both alternate. */
export const linkScale = async (target: Target, small: SpaceOfPages, large: SpaceOfPages): Promise<Figure[]> => {
  const listed = async ({ space }: SpaceOfPages) =>
    call<{ next?: { page: string } }>(target, 'GET', `/v1/spaces/${space}/links?limit=25`);
  const [ofSmall, ofLarge] = [await listed(small), await listed(large)];
  const works: Readonly<Record<string, (of: SpaceOfPages, first: typeof ofSmall, n: number) => Promise<unknown>>> = {
    'Links of a space': listed,
    'Their second page': ({ space }, { next }) =>
      call(target, 'GET', `/v1/spaces/${space}/links?limit=25&page=${encodeURIComponent(next?.page ?? '')}`),
    'Broken links of a space': ({ space }) => call(target, 'GET', `/v1/spaces/${space}/links?limit=25&status=broken`),
    'Counts of links of a space': ({ space }) => call(target, 'GET', `/v1/spaces/${space}/links?limit=0`),
    'Links of a page': ({ space, pageIds }, _first, n) =>
      call(target, 'GET', `/v1/spaces/${space}/content/page/${pageIds[n % pageIds.length]}/links`),
    'Backlinks of a page': ({ space, pageIds }, _first, n) =>
      call(target, 'GET', `/v1/spaces/${space}/content/page/${pageIds[n % pageIds.length]}/backlinks`),
  };
  const figures: Figure[] = [];
  for (const [name, work] of Object.entries(works)) {
    const times: { small: number[]; large: number[] } = { small: [], large: [] };
    for (let n = 0; n < samples; n += 1) {
      times.small.push(await timed(() => work(small, ofSmall, n)));
      times.large.push(await timed(() => work(large, ofLarge, n)));
    }
    const [ours, base] = [quantile(times.large, 0.5), quantile(times.small, 0.5)];
    const pages = `${large.pageIds.length} pages as multiple of ${small.pageIds.length}`;
    figures.push(atMost(`${name}, ${pages}`, ours / base, 2));
    figures.push(noted(`${name}, median`, ours, ' ms'));
  }
  return figures;
};

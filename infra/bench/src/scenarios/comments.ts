import { call, quantile, timed } from '../api.ts';
import { atMost, type Figure, noted } from '../report.ts';

interface Target {
  readonly url: string;
  readonly token: string;
}

const few = 50;
const many = 5_000;
const samples = 60;
/** Requests under way at once while filling. */
const hands = 16;

const post = (target: Target, space: string, n: number): Promise<{ id: string }> =>
  call(target, 'POST', `/v1/spaces/${space}/comments`, { body: { markdown: `Comment **${n}** on this space.` } });

const fill = async (target: Target, space: string, count: number): Promise<void> => {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await post(target, space, n);
  };
  await Promise.all(Array.from({ length: hands }, work));
};

/** Lists, reads and writes of comments, and reads of their space, with 5,000 comments against 50; both alternate. */
export const commentScale = async (target: Target, organization: string): Promise<Figure[]> => {
  const spaceOf = async (title: string): Promise<string> =>
    (await call<{ id: string }>(target, 'POST', `/v1/orgs/${organization}/spaces`, { title, empty: true })).id;
  const [small, large] = [await spaceOf('Few comments'), await spaceOf('Many comments')];
  await fill(target, small, few);
  const fillSeconds = (await timed(() => fill(target, large, many))) / 1000;

  const listed = async (space: string) =>
    call<{ items: { id: string }[]; next?: { page: string } }>(target, 'GET', `/v1/spaces/${space}/comments?limit=25`);
  const [ofSmall, ofLarge] = [await listed(small), await listed(large)];
  const works: Readonly<Record<string, (space: string, first: typeof ofSmall, n: number) => Promise<unknown>>> = {
    'List of comments': (space) => call(target, 'GET', `/v1/spaces/${space}/comments?limit=25`),
    'Its second page': (space, { next }) =>
      call(target, 'GET', `/v1/spaces/${space}/comments?limit=25&page=${encodeURIComponent(next?.page ?? '')}`),
    'List of open comments, oldest first': (space) =>
      call(target, 'GET', `/v1/spaces/${space}/comments?limit=25&status=open&order=asc`),
    'Posting a comment and reading the count': async (space, _first, n) => {
      await post(target, space, n);
      await call(target, 'GET', `/v1/spaces/${space}`);
    },
    'Reacting to a comment': (space, { items }, n) =>
      call(target, 'PUT', `/v1/spaces/${space}/comments/${items[n % items.length]?.id}`, {
        [n % 2 === 0 ? 'addedReactions' : 'removedReactions']: ['👍'],
      }),
  };
  const figures: Figure[] = [];
  for (const [name, work] of Object.entries(works)) {
    const times: { small: number[]; large: number[] } = { small: [], large: [] };
    for (let n = 0; n < samples; n += 1) {
      times.small.push(await timed(() => work(small, ofSmall, n)));
      times.large.push(await timed(() => work(large, ofLarge, n)));
    }
    const [ours, base] = [quantile(times.large, 0.5), quantile(times.small, 0.5)];
    figures.push(atMost(`${name}, ${many} comments as multiple of ${few}`, ours / base, 2));
    figures.push(noted(`${name} of ${many}, median`, ours, ' ms'));
  }
  figures.push(noted(`Posting ${many} comments through the API`, fillSeconds, ' s'));
  return figures;
};

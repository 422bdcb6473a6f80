/** A plain JSON call that insists on success. */
export const call = async <T>(
  target: { readonly url: string; readonly token: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<T> => {
  const response = await fetch(`${target.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${target.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(600_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
};

/** Milliseconds that `work` took. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** The value below which `share` (0..1) of the values lie. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

/** Id of the first organization. */
export const organizationOf = async (target: { readonly url: string; readonly token: string }): Promise<string> => {
  const { items } = await call<{ items: { id: string }[] }>(target, 'GET', '/v1/orgs');
  const id = items[0]?.id;
  if (id === undefined) throw new Error('no organization');
  return id;
};

const words =
  'event stream workflow store page merge review publish search token member branch document index cluster queue request render commit project'.split(
    ' ',
  );

/** Reproducible prose of about `length` characters. */
export const prose = (seed: number, length: number): string => {
  let text = '';
  for (let state = seed * 2654435761 + 1; text.length < length; state = (state * 1103515245 + 12345) % 2147483648)
    text += `${words[state % words.length]} `;
  return text;
};

const syllables = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zy'.split(' ');
const rareWords = 8000;

/** A word of a language that nobody speaks; the same for the same number. */
const madeUpWord = (rank: number): string => {
  let word = '';
  for (let rest = rank + 20; rest > 0; rest = Math.floor(rest / 20)) word += syllables[rest % 20];
  return word;
};

/**
 * Reproducible prose in which words are as unevenly common as in real texts: the nth most common one comes about 1/n
 * as often as the first (Zipf). The words of `prose` are among them, from common to rare.
 */
export const naturalProse = (seed: number, length: number): string => {
  let text = '';
  for (let state = (seed * 2654435761 + 1) % 2147483648; text.length < length; ) {
    state = (state * 1103515245 + 12345) % 2147483648;
    const rank = Math.floor(rareWords ** (state / 2147483648));
    const known = rank % 25 === 7 ? words[Math.floor(Math.log2(rank)) % words.length] : undefined;
    text += `${known ?? madeUpWord(rank)} `;
  }
  return text;
};

/** Makes a space of `pages` pages, a hundred under each parent, merged by one change request. */
export const spaceOfPages = async (
  target: { readonly url: string; readonly token: string },
  organization: string,
  pages: number,
  text: (seed: number, length: number) => string = prose,
  titleOf: (n: number) => string = (n) => `Page ${n} ${words[n % words.length]}`,
): Promise<{ space: string; pageIds: string[] }> => {
  const space = await call<{ id: string }>(target, 'POST', `/v1/orgs/${organization}/spaces`, {
    title: `${pages} pages`,
    empty: true,
  });
  const request = await call<{ id: string }>(target, 'POST', `/v1/spaces/${space.id}/change-requests`, {
    subject: 'Fill',
  });
  const content = `/v1/spaces/${space.id}/change-requests/${request.id}/content?compat=false`;
  const pageIds: string[] = [];
  let parent: string | undefined;
  for (let at = 0; at < pages; at += 50) {
    const changes = Array.from({ length: Math.min(50, pages - at) }, (_, index) => {
      const n = at + index;
      return {
        operation: 'insert_page',
        title: titleOf(n),
        ...(parent !== undefined && n % 100 !== 0 ? { into: parent } : {}),
        document: { markdown: `${text(n, 600)}\n\n## ${titleOf(n + 3)}\n\n${text(n + 7, 600)}` },
      };
    });
    if (at % 100 === 0) {
      const [first, ...rest] = changes;
      const head = await call<{ changes: { page: { id: string } }[] }>(target, 'POST', content, { changes: [first] });
      parent = head.changes[0]?.page.id;
      pageIds.push(...head.changes.map((change) => change.page.id));
      if (rest.length === 0) continue;
      const tail = await call<{ changes: { page: { id: string } }[] }>(target, 'POST', content, {
        changes: rest.map((change) => ({ ...change, into: parent })),
      });
      pageIds.push(...tail.changes.map((change) => change.page.id));
    } else {
      const answer = await call<{ changes: { page: { id: string } }[] }>(target, 'POST', content, { changes });
      pageIds.push(...answer.changes.map((change) => change.page.id));
    }
  }
  await call(target, 'POST', `/v1/spaces/${space.id}/change-requests/${request.id}/merge`);
  return { space: space.id, pageIds };
};

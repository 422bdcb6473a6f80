import type { listUsers } from '@bindery/contracts';
import { type CursorCodec, listIdentity, type OperationHandler, paginate } from '@bindery/service-kit';
import { searchable } from '../../../shared/text.ts';
import { presentUser } from '../presenter.ts';
import type { LiveUsers } from '../queries.ts';
import type { UserDocument } from '../read-model.ts';

const orderBy = [{ field: 'registeredAt', direction: 'asc' }] as const;
const defaultLimit = 50;
const scanPage = 1000;

/** GET /users of the administration */
export const listUsersRoute =
  (deps: { readonly users: LiveUsers; readonly cursors: CursorCodec }): OperationHandler<typeof listUsers> =>
  async ({ baseUrl, signal }, { query }) => {
    const list = listIdentity('listUsers', query);
    if (query.search === undefined) {
      const { items, ...rest } = await paginate<UserDocument>(deps.users(), list, { orderBy }, query, deps.cursors);
      return { status: 200, body: { ...rest, items: items.map(({ document }) => presentUser(document, baseUrl)) } };
    }
    const { limit = defaultLimit, page } = query;
    const start = page === undefined ? undefined : deps.cursors.decode(list, page);
    const found = await find(deps.users, searchable(query.search), start, limit + 1, signal);
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const next = found.length > limit && last ? deps.cursors.encode(list, [last.registeredAt, last.id]) : undefined;
    return {
      status: 200,
      body: {
        items: items.map((user) => presentUser(user, baseUrl)),
        ...(next === undefined ? {} : { next: { page: next } }),
      },
    };
  };

/** Reads in the order of the list until enough users match: no index knows parts of words. */
const find = async (
  users: LiveUsers,
  term: string,
  start: Parameters<ReturnType<LiveUsers>['query']>[0]['after'],
  enough: number,
  signal: AbortSignal,
): Promise<readonly UserDocument[]> => {
  const found: UserDocument[] = [];
  for (let after = start; ; ) {
    signal.throwIfAborted();
    const rows = await users().query({ orderBy, limit: scanPage, ...(after === undefined ? {} : { after }) });
    for (const { document } of rows) if (document.search.includes(term)) found.push(document);
    const last = rows.at(-1);
    if (last === undefined || rows.length < scanPage || found.length >= enough) return found.slice(0, enough);
    after = [last.document.registeredAt, last.id];
  }
};

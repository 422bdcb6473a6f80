import type { SessionMethod } from '@bindery/contracts';
import { documentsPerEvent, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec, Query } from '@bindery/read-store';
import type { SessionEvent } from './events.ts';
import { sessionsAggregateName } from './state.ts';

/** A session that works, or has expired; ended ones are gone. */
export interface SessionDocument {
  readonly id: string;
  readonly userId: string;
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly method: SessionMethod;
  readonly organizationId?: string;
  /** Sealed here as well: nothing to erase. */
  readonly client: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** Sessions by id, found by hash on every request that no cache answers. */
export const sessionCollection: CollectionSpec = {
  name: 'identity.sessions',
  version: 1,
  indexes: [
    { name: 'by-hash', fields: ['hash'] },
    { name: 'by-user', fields: ['userId', 'createdAt'] },
    { name: 'by-organization', fields: ['organizationId'] },
    { name: 'by-voucher', fields: ['userId', 'organizationId', 'createdAt'] },
  ],
};

/** Sessions, written by the event that starts them and removed by the one that ends them. */
export const sessionsProjection: Projection = documentsPerEvent<SessionEvent>({
  name: 'sessions',
  aggregates: [sessionsAggregateName],
  collections: [sessionCollection],
  handles: ['SessionStarted', 'SessionsEnded'],
  toDocuments: ({ type, data }) => {
    if (type === 'SessionsEnded')
      return data.sessionIds.map((id) => ({ collection: sessionCollection, id, document: null }));
    const { sessionId: id, userId, sessionHash: hash, method, organizationId, client, startedAt, expiresAt } = data;
    const document: SessionDocument = {
      id,
      userId,
      hash,
      method,
      ...(organizationId === undefined ? {} : { organizationId }),
      client,
      createdAt: startedAt,
      expiresAt,
    };
    return [{ collection: sessionCollection, id, document }];
  },
});

export type LiveSessions = () => ReturnType<typeof openSessions>;

export const openSessions = (live: LiveCollection) => live<SessionDocument>(sessionCollection);

const most = 1000;

/** Calls something for everybody who has sessions that an organization's providers vouched for, one after the other. */
export const forEveryVouched = async (
  sessions: LiveSessions,
  organizationId: string,
  call: (userId: string) => Promise<void>,
): Promise<void> => {
  for (let after: Query['after']; ; ) {
    const query = { where: { organizationId }, limit: most, ...(after === undefined ? {} : { after }) };
    const rows = await sessions().query(query);
    for (const userId of new Set(rows.map(({ document }) => document.userId))) await call(userId);
    const last = rows.at(-1);
    if (last === undefined || rows.length < most) return;
    after = [last.id];
  }
};

/** The session with this hash, if it was started and not ended. */
export const sessionByHash = async (sessions: LiveSessions, hash: string): Promise<SessionDocument | undefined> => {
  const [found] = await sessions().query({ where: { hash }, limit: 1 });
  return found?.document;
};

import type { deleteUserSession, listUserSessions } from '@bindery/contracts';
import {
  type CursorCodec,
  forbidden,
  holdsAccount,
  listIdentity,
  type OperationHandler,
  type Principal,
  paginate,
} from '@bindery/service-kit';
import type { PersonalDataSealer } from '../../../shared/personal-data.ts';
import type { TokenUsage } from '../../tokens/index.ts';
import type { LiveSessions, SessionDocument } from '../read-model.ts';
import { clientPurpose, type SessionClient, type Sessions } from '../sessions.ts';

export interface OwnSessionsDeps {
  readonly live: LiveSessions;
  readonly sessions: Sessions;
  readonly usage: TokenUsage;
  readonly sealer: PersonalDataSealer;
  readonly cursors: CursorCodec;
}

/**
 * Through an organization's identity provider somebody gets into the organization, not at the owner's other browsers: of the
 * sessions, those that began so.
 * @returns the organization; undefined for who holds the account
 */
const vouchedBy = (principal: Principal): string | undefined =>
  holdsAccount(principal) ? undefined : (principal.signedInBy?.organizationId ?? '');

/** GET /user/sessions */
export const listSessionsRoute =
  (deps: OwnSessionsDeps): OperationHandler<typeof listUserSessions> =>
  async ({ principal }, { query }) => {
    const organizationId = vouchedBy(principal);
    const { items, ...rest } = await paginate<SessionDocument>(
      deps.live(),
      listIdentity('listUserSessions', { userId: principal.id, organizationId }),
      {
        where: { userId: principal.id, ...(organizationId === undefined ? {} : { organizationId }) },
        orderBy: [{ field: 'createdAt', direction: 'desc' }],
      },
      query,
      deps.cursors,
    );
    const used = await deps.usage.lastUsedAt(items.map(({ id }) => id));
    const present = async ({ id, userId, method, client, createdAt, expiresAt }: SessionDocument) => {
      const opened = await deps.sealer.openText(userId, clientPurpose(id), client);
      const { address, userAgent }: SessionClient = opened === undefined ? {} : JSON.parse(opened);
      const lastUsedAt = used.get(id);
      return {
        id,
        method,
        createdAt,
        expiresAt,
        ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
        ...(address === undefined ? {} : { address }),
        ...(userAgent === undefined ? {} : { userAgent }),
        current: id === principal.tokenId,
      };
    };
    const shown = await Promise.all(items.map(({ document }) => present(document)));
    return { status: 200, body: { ...rest, items: shown } };
  };

/** DELETE /user/sessions/{sessionId} */
export const deleteSessionRoute =
  ({ live, sessions }: OwnSessionsDeps): OperationHandler<typeof deleteUserSession> =>
  async (context, { params: { sessionId } }) => {
    const { principal } = context;
    const organizationId = vouchedBy(principal);
    if (organizationId !== undefined) {
      const vouched = (await live().get(sessionId))?.document.organizationId;
      if (vouched !== organizationId)
        throw forbidden('session.account', 'A session of an organization ends only sessions that began so.');
    }
    const reason = sessionId === principal.tokenId ? 'signed-out' : 'revoked';
    const ended = await sessions.end(principal.id, { sessionIds: [sessionId], reason }, context);
    return ended > 0 ? { status: 205 } : { status: 204 };
  };

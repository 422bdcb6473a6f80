import { resolveSubjects, type reviewOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import {
  forbidden,
  type HandlersFor,
  invalid,
  isProblem,
  listIdentity,
  type OperationContext,
  paginate,
} from '@bindery/service-kit';
import { expectedRevision, type ReviewSubject } from '../../change-requests/index.ts';
import type { ReviewDeps } from '../deps.ts';
import { type Located, locate } from '../located.ts';
import { presentRequested } from '../present.ts';
import { requestedReviewerId } from '../read-model/document.ts';

type Handlers = HandlersFor<typeof reviewOperations>;

/** GET .../requested-reviewers: in the order in which they were asked. */
export const getRequestedReviewers =
  (deps: ReviewDeps): Handlers['getRequestedReviewersByChangeRequestId'] =>
  async (context, { params, query }) => {
    const { found } = await locate(deps, context, params, 'view');
    const { items, ...rest } = await paginate(
      deps.requested,
      listIdentity('getRequestedReviewersByChangeRequestId', { changeRequestId: found.id }),
      { where: { changeRequestId: found.id }, orderBy: [{ field: 'createdAt', direction: 'asc' }] },
      query,
      deps.cursors,
    );
    return { status: 200, body: { ...rest, items: items.map(({ document }) => presentRequested(document)) } };
  };

/** @throws Problem forbidden for everybody but editors, the author, and those that `others` names */
const requireAsking = (
  context: OperationContext,
  { permissions, found }: Located,
  others: readonly string[] = [],
): void => {
  const { id } = context.principal;
  if (!permissions.edit && found.document.createdBy !== id && !others.includes(id))
    throw forbidden('change_request.edit_needed', 'Only its author and editors of the space may ask for reviews.');
};

/**
 * Members who may view the space, and teams of its organization. Who cannot see it is told apart from who does not exist by
 * nothing.
 * @throws Problem invalid naming the first field
 */
const requireReaders = async (
  deps: ReviewDeps,
  context: OperationContext,
  { space }: Located,
  { users, teams }: { readonly users: readonly string[]; readonly teams: readonly string[] },
): Promise<void> => {
  const { organizationId } = space;
  const [levels, known] = await Promise.all([
    deps.levelsOf(context, space, users),
    teams.length === 0
      ? { body: { teams: [] } }
      : deps.services.call(resolveSubjects, context, {
          params: {},
          query: {},
          body: { organizationId, teams: [...teams] },
        }),
  ]);
  const stranger = users.findIndex((id) => !levels.has(id));
  if (stranger >= 0)
    throw invalid('change_request.reviewer_unknown', `body.users[${stranger}]: is no member who may view the space`);
  const there = new Set<string>(known.body.teams);
  const unknown = teams.findIndex((id) => !there.has(id));
  if (unknown >= 0)
    throw invalid('change_request.reviewer_unknown', `body.teams[${unknown}]: is no team of the organization`);
};

/** POST .../requested-reviewers. All of them, or nobody. */
export const requestReviewers =
  (deps: ReviewDeps): Handlers['requestReviewersForChangeRequest'] =>
  async (context, { params, body, ifMatch }) => {
    const { users, teams = [], subject, description } = body;
    const located = await locate(deps, context, params, 'view');
    requireAsking(context, located);
    if (users.length + teams.length === 0)
      throw invalid('change_request.reviewers_missing', 'body.users: name at least one user, or a team in body.teams');
    await requireReaders(deps, context, located, { users, teams });
    const subjects: readonly ReviewSubject[] = [
      ...users.map((id) => ({ kind: 'user' as const, id })),
      ...teams.map((id) => ({ kind: 'team' as const, id })),
    ];
    const { id } = located.found;
    const expected = expectedRevision(ifMatch);
    await deps.repository.handle(
      id,
      {
        type: 'RequestReviewers',
        data: {
          subjects,
          ...(subject === undefined ? {} : { subject }),
          ...(description === undefined ? {} : { description }),
          requestedBy: context.principal.id,
          requestedAt: context.now.toISOString(),
        },
      },
      commandMetadata(context, located.space.organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    const keys = [...new Set(subjects.map((it) => requestedReviewerId(id, it.kind, it.id)))];
    const stored = await Promise.all(keys.map((key) => deps.requested.get(key)));
    const asked = stored.flatMap((it) => (it === undefined ? [] : [presentRequested(it.document)]));
    return { status: 200, body: { users: asked } };
  };

/** DELETE .../requested-reviewers/{userId}: by editors, the author, and who was asked. */
export const removeRequestedReviewer =
  (deps: ReviewDeps): Handlers['removeRequestedReviewerFromChangeRequest'] =>
  async (context, { params, ifMatch }) => {
    const { userId } = params;
    let located: Located;
    try {
      located = await locate(deps, context, params, 'view');
    } catch (error) {
      if (isProblem(error) && error.kind === 'not-found') return { status: 204 };
      throw error;
    }
    requireAsking(context, located, [userId]);
    const expected = expectedRevision(ifMatch);
    const { events } = await deps.repository.handle(
      located.found.id,
      {
        type: 'RemoveReviewer',
        data: { id: userId, removedBy: context.principal.id, removedAt: context.now.toISOString() },
      },
      commandMetadata(context, located.space.organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    return { status: events.length > 0 ? 205 : 204 };
  };

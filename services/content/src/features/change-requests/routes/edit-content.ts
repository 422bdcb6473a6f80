import type { ContentChangeInput, ContentOutcome, contentChangeOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { conflict, type HandlersFor, isProblem, type OperationContext, preconditionFailed } from '@bindery/service-kit';
import type { FileInput } from '../../files/index.ts';
import { applyChanges, type FileNode, splitRevision } from '../../revisions/index.ts';
import { answerChangeRequest, changeRequestAfter, expectedRevision } from '../answer.ts';
import type { Outcome } from '../content/edit-session.ts';
import { fault } from '../content/faults.ts';
import { type EditPlan, planEdit } from '../content/plan-edit.ts';
import type { RevertSource } from '../content/revert-page.ts';
import { rewindable } from '../content/rewindable.ts';
import { assertEditable } from '../decider.ts';
import type { ChangeRequestRouteDeps } from '../deps.ts';
import type { Merging } from '../merging.ts';
import { changeRequestLocation } from '../present.ts';
import { changeRequestKey, type Serial } from '../serial.ts';
import type { OpenedChangeRequest } from '../state.ts';
import { type LocateDeps, locate } from './located.ts';

/** What editing the content of change requests works with. */
export type EditDeps = ChangeRequestRouteDeps & LocateDeps & { readonly merging: Merging; readonly serial: Serial };

/** Decided anew so often when other processes keep editing the same change request. */
const maxAttempts = 10;

/** POST .../content: one batch of edits, one revision (gaps-filled section 7). */
export const updateChangeRequestContent =
  (deps: EditDeps): HandlersFor<typeof contentChangeOperations>['updateChangeRequestContent'] =>
  async (context, { params, query, body, ifMatch }) => {
    const { found, space } = await locate(deps, context, params, 'edit');
    const metadata = commandMetadata(context, space.organizationId);
    const { id } = found;
    const { spaceId } = params;
    const revisionId = context.ids.id();
    assertEditable(await deps.merging.settled(id, metadata));
    const expected = expectedRevision(ifMatch);
    const files = await takeFilesIn(deps, context, space.organizationId, body.changes);
    const ids = rewindable(() => context.ids.id());

    const attempt = async () => {
      const { state, revision } = await deps.repository.load(id);
      if (state.status === 'none') throw conflict('change_request.moved', 'The change request is not there yet.');
      // A repeated request whose revision is there already is planned again where it was planned first.
      const done = await deps.reader.info(spaceId, revisionId);
      const parent = done?.parents[0] ?? state.revision;
      if (done === undefined) {
        assertEditable(state);
        if (expected !== undefined && expected !== revision)
          throw preconditionFailed('If-Match: the change request has changed since; read it again.');
      }
      const tree = await deps.reader.tree(spaceId, parent, { changeRequestId: id });
      ids.rewind();
      const plan = await planEdit({
        baseUrl: context.baseUrl,
        spaceId,
        tree,
        changes: body.changes,
        files,
        reverts: await revertSources(deps, state, body.changes),
        documents: (wanted) => deps.reader.bodies(spaceId, wanted, { changeRequestId: id }),
        newId: ids.next,
        now: context.now.toISOString(),
      });
      if (done !== undefined) return { plan, handled: { state, revision, events: [], position: 0 } };
      const touched = [...plan.outcomes.keys()];
      const [by, at] = [context.principal.id, context.now.toISOString()];
      const options = expected === undefined ? {} : { expectedRevision: expected };
      if (plan.changes.length === 0) {
        if (state.conflicts === undefined) return { plan, handled: { state, revision, events: [], position: 0 } };
        const data = { parent, touched, settledBy: by, settledAt: at };
        return {
          plan,
          handled: await deps.repository.handle(id, { type: 'SettleConflicts', data }, metadata, options),
        };
      }
      const handled = await deps.repository.handle(
        id,
        {
          type: 'EditChangeRequest',
          data: {
            revisionId,
            parent,
            parts: splitRevision(plan),
            touched,
            editedBy: by,
            editedAt: at,
          },
        },
        metadata,
        options,
      );
      deps.reader.remember(spaceId, revisionId, applyChanges(tree, plan.changes));
      return { plan, handled };
    };

    const { plan, handled } = await deps.serial(changeRequestKey(id), () => repeated(attempt, context.signal));
    const at = await changeRequestAfter(deps.changeRequests, found, handled, id);
    const answer = answerChangeRequest(context.baseUrl, at, space.revision, await deps.openComments.of(id));
    if (query.compat !== false) return { status: 200, ...answer };
    const represent = (file: FileNode) => deps.fileLinks.represent(context.baseUrl, spaceId, file);
    return {
      status: 200,
      etag: answer.etag,
      body: {
        changeRequest: answer.body,
        changes: outcomesOf(plan, changeRequestLocation(context.baseUrl, spaceId, id)),
        ...(plan.files.length === 0 ? {} : { insertedFiles: plan.files.map(represent) }),
      },
    };
  };

const repeated = async <T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      const moved = isProblem(error) && error.code === 'change_request.moved';
      if (!moved || count >= maxAttempts || signal.aborted) throw error;
    }
  }
};

const outcomesOf = ({ outcomes }: EditPlan, location: string): ContentOutcome[] =>
  [...outcomes].map(([id, outcome]: readonly [string, Outcome]): ContentOutcome => {
    if (outcome.kind === 'deleted') return { object: 'deleted_page', page: id };
    const page = { object: 'page' as const, id, urls: { location: `${location}/content/page/${id}` } };
    if (outcome.kind === 'updated') return { object: 'updated_page', page };
    return { object: 'created_page', ...(outcome.ref === undefined ? {} : { ref: outcome.ref }), page };
  });

/** Fetches and stores the files of a batch, before anything is decided: once, however often that is done again. */
const takeFilesIn = async (
  deps: EditDeps,
  context: OperationContext,
  organizationId: string,
  changes: readonly ContentChangeInput[],
): Promise<ReadonlyMap<number, readonly FileNode[]>> => {
  const wanted = changes.flatMap((change, index) =>
    change.operation === 'insert_files'
      ? [{ index, files: change.files.map((file, at) => fileOf(file, index, at)) }]
      : [],
  );
  const taken = new Map<number, readonly FileNode[]>();
  for (const { index, files } of wanted) {
    const { signal, baseUrl, principal } = context;
    const uploader = { baseUrl, organizationId, principal };
    const options = { id: () => context.ids.id(), signal, field: `body.changes[${index}].files`, uploader };
    taken.set(index, await deps.files.ingest(files, options));
  }
  return taken;
};

const fileOf = (
  file: Extract<ContentChangeInput, { operation: 'insert_files' }>['files'][number],
  index: number,
  at: number,
): FileInput => {
  const field = `changes[${index}].files[${at}]`;
  const { url, base64, name, contentType } = file;
  if ((url === undefined) === (base64 === undefined))
    throw fault('file_source', field, 'give either `url` or `base64`');
  if (url !== undefined) return { url, name, ...(contentType === undefined ? {} : { contentType }) };
  if (contentType === undefined)
    throw fault('content_type_missing', `${field}.contentType`, 'is required with `base64`');
  return { base64: base64 ?? '', name, contentType };
};

/** The revisions that reverts go back to. @throws Problem invalid for a revision that the space does not have */
const revertSources = async (
  { reader }: EditDeps,
  state: OpenedChangeRequest,
  changes: readonly ContentChangeInput[],
): Promise<ReadonlyMap<number, RevertSource>> => {
  const sources = new Map<number, RevertSource>();
  for (const [index, change] of changes.entries()) {
    if (change.operation !== 'revert_page') continue;
    const { spaceId } = state;
    const revisionId = change.revision ?? state.revisionMergedAncestor;
    if (change.revision !== undefined && (await reader.info(spaceId, revisionId)) === undefined)
      throw fault('no_revision', `changes[${index}].revision`, `the space has no revision ${revisionId}`);
    sources.set(index, { revisionId, tree: await reader.tree(spaceId, revisionId, state) });
  }
  return sources;
};

import { changeRequestOperations, contentChangeOperations, type templateOperations } from '@bindery/contracts';
import { conflict, type HandlersFor, isProblem, type OperationContext, type ServiceClient } from '@bindery/service-kit';
import type { Access } from '../access/index.ts';
import { changesOfTemplate } from './changes.ts';

/** What applying templates works with. */
export interface TemplateDeps {
  readonly access: Access;
  /** Operations of this service, so that a template goes the way of every edit. */
  readonly own: ServiceClient;
}

const { createChangeRequest, mergeChangeRequest, updateChangeRequestById } = changeRequestOperations;

/**
 * POST /spaces/{spaceId}/content/template. The primary content changes by merges alone, so that a template for it is a
 * change request that is merged at once, under the merge rules of the space; when they refuse, it is archived.
 */
export const applyTemplateToSpace =
  ({ access, own }: TemplateDeps): HandlersFor<typeof templateOperations>['applyTemplateToSpace'] =>
  async (context, { params, body }) => {
    const { spaceId } = params;
    const { changeRequestId, ...template } = body;
    await access.space(context, spaceId, 'edit');
    const changes = changesOfTemplate(template, { baseUrl: context.baseUrl, spaceId }, 'body');
    if (changeRequestId === undefined) {
      await access.space(context, spaceId, 'merge');
      const request = { params, query: {}, body: { subject: `Template: ${template.id}`, template } };
      const { id } = (await own.call(createChangeRequest, context, request)).body;
      await mergeOrArchive(own, context, { spaceId, changeRequestId: id });
    } else {
      const request = {
        params: { spaceId, changeRequestId },
        query: { compat: true },
        body: { changes: [...changes] },
      };
      await own.call(contentChangeOperations.updateChangeRequestContent, context, request);
    }
    return { status: 201 };
  };

const mergeOrArchive = async (
  own: ServiceClient,
  context: OperationContext,
  params: { readonly spaceId: string; readonly changeRequestId: string },
): Promise<void> => {
  const archive = () =>
    own.call(updateChangeRequestById, context, { params, query: {}, body: { status: 'archived' as const } });
  try {
    const { body } = await own.call(mergeChangeRequest, context, { params, query: {}, body: undefined });
    if (body.result === 'merge') return;
  } catch (error) {
    // Refused, so nothing was merged; after any other failure it may have been, and somebody should look.
    if (isProblem(error) && (error.kind === 'forbidden' || error.kind === 'conflict')) await archive();
    throw error;
  }
  await archive();
  throw conflict('template.conflicts', 'The space changed meanwhile; apply the template again.');
};

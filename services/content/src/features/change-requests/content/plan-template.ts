import type { ApplySpaceTemplate } from '@bindery/contracts';
import type { OperationContext } from '@bindery/service-kit';
import { emptyTree, type RevisionPart } from '../../revisions/index.ts';
import { changesOfTemplate } from '../../templates/index.ts';
import { planEdit } from './plan-edit.ts';

/** The first revision of a space that begins with a template. @throws Problem 400 for one that does not exist */
export const planTemplate = async (
  context: OperationContext,
  spaceId: string,
  template: ApplySpaceTemplate,
): Promise<RevisionPart> => {
  const { baseUrl, now, ids } = context;
  const { changes, documents } = await planEdit({
    baseUrl,
    spaceId,
    tree: emptyTree,
    changes: changesOfTemplate(template, { baseUrl, spaceId }, 'body.template'),
    files: new Map(),
    reverts: new Map(),
    documents: async () => new Map(),
    newId: () => ids.id(),
    now: now.toISOString(),
  });
  return { changes, documents };
};

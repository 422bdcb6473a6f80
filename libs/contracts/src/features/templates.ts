import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { ContentRef } from '../schemas/document-inlines.ts';

const TemplateId = Type.String({
  minLength: 1,
  maxLength: limits.template.id,
  description: 'One of the built-in templates: `product-docs`, `api-reference`, `handbook`, `release-notes`.',
});

/** What a template is filled with (resources section 29). */
export const SpaceTemplateParams = component(
  'SpaceTemplateParams',
  closed({
    contentRefs: Type.Optional(
      Type.Record(Type.String({ maxLength: limits.template.refName }), ContentRef, {
        maxProperties: limits.template.refs,
        description: 'Where the named links of the template lead; those that are not named keep what they lead to.',
      }),
    ),
  }),
);

/** A template and what it is filled with (resources section 0). */
export const ApplySpaceTemplate = component(
  'ApplySpaceTemplate',
  closed({ id: TemplateId, params: Type.Optional(SpaceTemplateParams) }),
);
export type ApplySpaceTemplate = Static<typeof ApplySpaceTemplate>;

/** Templates (reference: Space content). */
export const templateOperations = {
  applyTemplateToSpace: operation({
    id: 'applyTemplateToSpace',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/spaces/{spaceId}/content/template',
    tag: 'Space content',
    summary: 'Apply a template',
    description:
      'Adds the pages of the template to a change request, or, without `changeRequestId`, to the space itself by a change request that is merged at once; its merge rules hold.',
    access: 'space:edit',
    scope: 'space:write',
    params: closed({ spaceId: Id() }),
    body: closed({
      id: TemplateId,
      params: Type.Optional(SpaceTemplateParams),
      changeRequestId: Type.Optional(Id('Id or number of an open change request.')),
    }),
    success: { 201: null },
    errors: [409],
  }),
};

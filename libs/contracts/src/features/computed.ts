import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { closed, Id, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

const optional = Type.Optional;
const Text = Type.String({ minLength: 1, maxLength: 256 });
const PlainObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: 100 });

/** A specification that content is computed from; without `value` it was not looked up, with null there is none. */
const SpecDependency = closed({
  ref: closed({
    kind: Type.Literal('openapi'),
    spec: Type.String({ minLength: 1, maxLength: limits.openapi.slug, description: 'Slug of the specification.' }),
  }),
  value: optional(
    Type.Union([
      closed({
        object: Type.Literal('openapi-spec'),
        id: Id(),
        slug: Type.String(),
        lastVersion: optional(Id('Its latest version.')),
        visibility: optional(words(['private', 'public'])),
      }),
      Type.Null(),
    ]),
  ),
});
/** Translations and spaces are named and never looked up. */
const TranslationDependency = closed({
  ref: closed({ kind: Type.Literal('translation'), translation: Text }),
  value: optional(Type.Union([PlainObject, Type.Null()])),
});
const SpaceDependency = closed({
  ref: closed({ kind: Type.Literal('space'), space: Text }),
  value: optional(Type.Union([PlainObject, Type.Null()])),
});

/** Where the pages of computed content come from (resources: ComputedContentSourceRevision). */
export const ComputedContentSource = component(
  'ComputedContentSource',
  Type.Union([
    closed({
      type: Type.Literal('builtin:openapi'),
      dependencies: closed({ spec: SpecDependency }),
      props: closed({
        models: Type.Boolean({ description: 'Whether the models have a page.' }),
        downloadLink: optional(Type.Boolean()),
        grouping: optional(words(['by-tag', 'by-operation'])),
      }),
    }),
    closed({
      type: Type.Literal('builtin:translation'),
      dependencies: closed({ translation: TranslationDependency }),
      props: closed({}),
    }),
    closed({
      type: Type.String({ maxLength: 256, pattern: '^integration:[^:]+:[^:]+$' }),
      props: PlainObject,
      dependencies: optional(
        Type.Unsafe<Record<string, Static<typeof SpecDependency>>>({
          type: 'object',
          maxProperties: limits.computed.dependencies,
          additionalProperties: Type.Union([SpecDependency, TranslationDependency, SpaceDependency]),
        }),
      ),
    }),
  ]),
);
export type ComputedContentSource = Static<typeof ComputedContentSource>;

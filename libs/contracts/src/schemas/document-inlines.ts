import Type, { type TProperties, type TSchema } from 'typebox';
import { component, componentPointer, forwardRef } from '../kit/components.ts';
import { closed, words } from '../kit/schema.ts';
import type { Block, ContentRef as ContentRefType, Fragment } from './document-types.ts';

export const optional = Type.Optional;
export const flag = optional(Type.Boolean());
export const key = optional(Type.String({ maxLength: 64 }));
/** Properties that the reference leaves free. */
export const anyObject = Type.Unsafe<object>({ type: 'object' });
/** A string of a document's data; 2048 as for any URL of the reference. */
export const text = (maxLength = 2048) => Type.String({ maxLength });

/** Exactly one member fits, told apart by the value of one property, so that a validator tries only that one. */
export const union = <T>(property: string, members: Readonly<Record<string, TSchema>>) =>
  Type.Unsafe<T>({
    type: 'object',
    required: [property],
    discriminator: { propertyName: property },
    oneOf: Object.values(members),
  });
const kindOf = (kind: string, properties: TProperties) => closed({ kind: Type.Literal(kind), ...properties });

const contentRefs = {
  file: kindOf('file', { file: text(), space: optional(text()) }),
  url: kindOf('url', { url: text(8192) }),
  page: kindOf('page', { page: text(), space: optional(text()) }),
  anchor: kindOf('anchor', { anchor: text(), space: optional(text()), page: optional(text()) }),
  user: kindOf('user', { user: text() }),
  collection: kindOf('collection', { collection: text() }),
  space: kindOf('space', { space: text() }),
  'reusable-content': kindOf('reusable-content', { reusableContent: text(), space: optional(text()) }),
  tag: kindOf('tag', { tag: text(), space: optional(text()) }),
  openapi: kindOf('openapi', { spec: text() }),
};
/** Where a link, image, file or mention points (resources section 0). */
export type ContentRef = ContentRefType;
export const ContentRef = component('ContentRef', union<ContentRefType>('kind', contentRefs));

const textColors = words([
  'default',
  'green',
  'blue',
  'red',
  'orange',
  'yellow',
  'purple',
  'pink',
  'violet',
  'cyan',
  '$primary',
  '$info',
  '$success',
  '$warning',
  '$danger',
  '$tint',
]);
export const length = Type.Unsafe({
  anyOf: [{ type: 'number', minimum: 0 }, closed({ unit: text(16), value: Type.Number() })],
});
export const align = optional(words(['start', 'center', 'end']));
export const verticalAlignment = optional(words(['top', 'middle', 'bottom']));

const mark = Type.Unsafe({
  ...closed({
    object: Type.Literal('mark'),
    type: words(['bold', 'italic', 'code', 'keyboard', 'strikethrough', 'superscript', 'subscript', 'color']),
    data: optional(closed({ text: optional(textColors), background: optional(textColors) })),
  }),
  if: { properties: { type: { const: 'color' } } },
  // biome-ignore lint/suspicious/noThenProperty: `then` is the JSON Schema keyword.
  then: { required: ['data'] },
});
const leaf = closed({ object: Type.Literal('leaf'), text: Type.String(), marks: Type.Array(mark, { maxItems: 16 }) });
component('DocumentText', closed({ object: Type.Literal('text'), key, leaves: Type.Array(leaf) }));

export const BlockRef = forwardRef<Block>('DocumentBlock');
const FragmentRef = forwardRef<Fragment>('DocumentFragment');
export const fragments = optional(Type.Array(FragmentRef));
export const meta = optional(Type.Unsafe<object>({ type: 'object', maxProperties: 16 }));

/** Text or an inline, told apart by `object` in one step. */
export const Phrasing = component(
  'DocumentPhrasing',
  Type.Unsafe<object>({
    type: 'object',
    required: ['object'],
    properties: { object: { enum: ['text', 'inline'] } },
    if: { properties: { object: { const: 'text' } } },
    // biome-ignore lint/suspicious/noThenProperty: `then` is the JSON Schema keyword.
    then: { $ref: componentPointer('DocumentText') },
    else: { $ref: componentPointer('DocumentInline') },
  }),
);
export const phrasing = { nodes: Type.Array(Phrasing) };
const blocks = { nodes: Type.Array(BlockRef) };

const inline = (type: string, data: TSchema, more: TProperties = {}) =>
  closed({ object: Type.Literal('inline'), type: Type.Literal(type), key, data, ...more });
export const isVoid = { isVoid: Type.Literal(true) };
export const notVoid = { isVoid: optional(Type.Literal(false)) };
const buttonAction = Type.Unsafe({
  anyOf: [
    closed({ action: words(['search', 'ask']), query: optional(text()) }),
    closed({ action: Type.Literal('select'), slug: text() }),
  ],
});

const inlines = {
  link: inline('link', closed({ ref: ContentRef, title: optional(text()) }), { ...notVoid, ...phrasing }),
  emoji: inline('emoji', closed({ code: text(64) }), isVoid),
  icon: inline('icon', closed({ icon: text(64), color: optional(textColors) }), isVoid),
  expression: inline('expression', closed({ expression: text(1024) }), isVoid),
  'inline-math': inline('inline-math', closed({ formula: Type.String() }), isVoid),
  'inline-image': inline(
    'inline-image',
    closed({
      ref: ContentRef,
      refDark: optional(ContentRef),
      caption: optional(Type.String()),
      alt: optional(Type.String()),
      size: optional(words(['original', 'line'])),
    }),
    isVoid,
  ),
  annotation: inline('annotation', optional(anyObject), { isVoid: Type.Literal(false), ...phrasing, fragments }),
  mention: inline('mention', closed({ ref: ContentRef }), isVoid),
  button: inline(
    'button',
    closed({
      label: Type.String(),
      kind: words(['primary', 'secondary']),
      size: optional(words(['small', 'medium', 'large'])),
      icon: optional(text(64)),
      ref: optional(ContentRef),
      action: optional(buttonAction),
    }),
    isVoid,
  ),
};
component('DocumentInline', union<object>('type', inlines));
component(
  'DocumentFragment',
  closed({ object: Type.Literal('fragment'), key, fragment: optional(text(256)), type: optional(text(64)), ...blocks }),
);

import Type, { type Static, type TObject, type TProperties, type TSchema, type TUnsafe } from 'typebox';
import { limits } from '../limits.ts';

/** An object that allows no field beyond those named (PITFALLS 54: closed schemas in, explicit mapping out). */
export const closed = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** A string that is one of the given words, as an OpenAPI `enum`. */
export const words = <const W extends readonly string[]>(
  values: W,
  options: Record<string, unknown> = {},
): TUnsafe<W[number]> => Type.Unsafe<W[number]>({ type: 'string', enum: [...values], ...options });

/** The schema's values, or null. */
export const nullable = <S extends TSchema>(schema: S): TUnsafe<Static<S> | null> =>
  Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] });

/** An identifier of a resource, as it may stand in a path (gaps-filled section 13). */
export const Id = (description?: string) =>
  Type.String({ pattern: limits.id.pattern, maxLength: limits.id.maxLength, ...(description ? { description } : {}) });

/**
 * What leaves no mark, inside of a character class: spaces, and what only steers or joins others (Unicode: format
 * characters, default-ignorable ones, unpaired surrogates, the empty Braille pattern).
 */
const unseen = '\\u0080-\\u009F\\p{Z}\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\u2800';
const control = '\\u0000-\\u001F\\u007F';

/**
 * The pattern of one line of text that people read: no control characters, and some that are seen. What is unseen may
 * stand between: emoji are put together with it, and some scripts need it. Linear: no character fits two parts of it.
 * @param marks how many visible characters at least
 */
export const visibleLine = (marks = 1): string => `^(?:[${unseen}]*[^${control}${unseen}]){${marks}}[^${control}]*$`;

/** ISO 8601 date and time. */
export const DateTime = Type.String({ format: 'date-time' });
/** An absolute URL that we made. */
export const Uri = Type.String({ format: 'uri' });
/** A URL that a caller gives. */
export const UrlInput = Type.String({ format: 'uri', maxLength: limits.url.maxLength });

/** The envelope of every list (reference: Conventions 5). */
export const listOf = <S extends TSchema>(item: S) =>
  closed({
    next: Type.Optional(closed({ page: Type.String() })),
    count: Type.Optional(Type.Number()),
    items: Type.Array(item),
  });

/** The two query parameters of every paged list (reference: Conventions 6; gaps-filled section 3). */
export const paging = {
  page: Type.Optional(
    Type.String({
      maxLength: limits.cursor.maxLength,
      description: 'Cursor, taken from `next.page` of the previous answer.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.page.maximum,
      default: limits.page.default,
      description: 'How many items at most.',
    }),
  ),
};

import Type, { type Static, type TSchema, type TUnsafe } from 'typebox';

/** The resources that another service owns and the gateway embeds into a response. */
export type EmbedKind = 'user' | 'team' | 'organization' | 'space' | 'collection';

const registered = new Map<string, TSchema>();

/** Where a named schema lives in the OpenAPI document. */
export const componentPointer = (name: string): string => `#/components/schemas/${name}`;

/**
 * Registers a named schema and returns a `$ref` to it, so that the OpenAPI document names it once.
 * @param name the reference's name of the resource, unique in the contract
 * @throws Error when the name is taken
 */
export function component<S extends TSchema>(name: string, schema: S): TUnsafe<Static<S>> {
  if (registered.has(name)) throw new Error(`contract: component ${name} is declared twice`);
  registered.set(name, schema);
  return Type.Unsafe<Static<S>>({ $ref: componentPointer(name) });
}

/** A `$ref` to a component that is declared later or recursively; the caller states its TypeScript type. */
export const forwardRef = <T>(name: string): TUnsafe<T> => Type.Unsafe<T>({ $ref: componentPointer(name) });

/**
 * A field in which the client sees a whole resource of another service, and the owner service returns only its id.
 * The gateway finds these fields by walking the schema and fills them in batches (DESIGN section 3), hence the static
 * type is `string`: that is what a handler writes.
 */
export const embedded = (kind: EmbedKind, name: string): TUnsafe<string> =>
  Type.Unsafe<string>({ $ref: componentPointer(name), 'x-embed': kind });

/** All named schemas, by name. */
export const components = (): ReadonlyMap<string, TSchema> => registered;

import type { Collection, CollectionSpec, Stored } from '@bindery/read-store';
import type { LiveCollection } from '../projection.ts';
import type { Tracked } from './tracked.ts';

type Reads<T> = Pick<Collection<T>, 'get' | 'getMany' | 'query' | 'count' | 'scan' | 'spec'>;

/**
 * Collections for queries. Each call goes to the generation that is live then; one that meets the end of a generation
 * (a rebuild has switched and dropped it) is made again on the next.
 * @param refresh looks whether another process has switched
 */
export const liveCollections = (
  tracked: readonly Tracked[],
  assertRunning: () => void,
  refresh: () => Promise<void>,
): LiveCollection => {
  const owners = new Map<string, Tracked>();
  for (const owner of tracked) for (const { name } of owner.projection.collections) owners.set(name, owner);

  return <T>(spec: CollectionSpec): Reads<T> => {
    const owner = owners.get(spec.name);
    if (owner === undefined) throw new TypeError(`no projection of this service writes ${spec.name}`);

    const open = (): Collection<T> => {
      assertRunning();
      const collection = owner.collections.get(spec.name);
      if (collection === undefined) throw new TypeError(`${spec.name} is not open`);
      return collection as Collection<unknown> as Collection<T>; // the caller names the shape of the documents
    };
    const onLive = async <R>(read: (collection: Collection<T>) => Promise<R>): Promise<R> => {
      const { generation } = owner;
      try {
        return await read(open());
      } catch (error) {
        if (owner.generation === generation) await refresh();
        if (owner.generation === generation) throw error;
        return read(open());
      }
    };
    return {
      spec,
      get: (id) => onLive((collection) => collection.get(id)),
      getMany: (ids) => onLive((collection) => collection.getMany(ids)),
      query: (query) => onLive((collection) => collection.query(query)),
      count: (where) => onLive((collection) => collection.count(where)),
      async *scan(signal?: AbortSignal): AsyncGenerator<Stored<T>> {
        yield* open().scan(signal);
      },
    };
  };
};

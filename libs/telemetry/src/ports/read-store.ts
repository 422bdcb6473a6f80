import type { Collection, ReadStore } from '@bindery/read-store';
import type { Telemetry } from '../port.ts';
import { type BackEndCalls, backEndCalls, type System } from './calls.ts';

const observedCollection = <T>(collection: Collection<T>, calls: BackEndCalls): Collection<T> => {
  const { name } = collection.spec;
  return {
    spec: collection.spec,
    get: (id) => calls.run('get', name, {}, () => collection.get(id)),
    getMany: (ids) =>
      calls.run('get_many', name, { 'db.operation.batch.size': ids.length }, () => collection.getMany(ids)),
    query: (query) => calls.run('query', name, {}, () => collection.query(query)),
    count: (where) => calls.run('count', name, {}, () => collection.count(where)),
    scan: (signal) => calls.iterate('scan', name, {}, collection.scan(signal)),
    put: (id, revision, document) => calls.run('put', name, {}, () => collection.put(id, revision, document)),
    remove: (id, revision) => calls.run('remove', name, {}, () => collection.remove(id, revision)),
    compareAndPut: (id, expected, document) =>
      calls.run('compare_and_put', name, {}, () => collection.compareAndPut(id, expected, document)),
    purge: (where, limit) => calls.run('purge', name, {}, () => collection.purge(where, limit)),
  };
};

/** A read store whose calls are spans, by the conventions for databases, and are timed. Never with what is asked or written. */
export const observedReadStore = (store: ReadStore, telemetry: Telemetry, system: System): ReadStore => {
  const calls = backEndCalls(telemetry, 'read-store', system, 'db');
  /** Batches name collections; the store knows its own. */
  const inner = new WeakMap<object, Collection<unknown>>();
  return {
    async collection<T>(...args: Parameters<ReadStore['collection']>) {
      const collection = await store.collection<T>(...args);
      const observed = observedCollection(collection, calls);
      inner.set(observed, collection as Collection<unknown>);
      return observed;
    },
    batch: (writes) => {
      const [first] = writes;
      const same = writes.every(({ collection }) => collection.spec.name === first?.collection.spec.name);
      return calls.run(
        'batch',
        same ? (first?.collection.spec.name ?? '') : '',
        { 'db.operation.batch.size': writes.length },
        () =>
          store.batch(
            writes.map(({ collection, write }) => ({ collection: inner.get(collection) ?? collection, write })),
          ),
      );
    },
    drop: (spec, generation) => calls.run('drop', spec.name, {}, () => store.drop(spec, generation)),
    scrub: () => store.scrub(),
    close: () => store.close(),
  };
};

import { ReadStoreUnavailable } from '../../port.ts';

/** What answers under an address: one server that nothing is copied from, or several that keep copies. */
export type Deployment = 'single' | 'copies';

/** Asks a server what it is, in the one spelling that every server knows. */
export const HELLO = { isMaster: 1 } as const;

/**
 * What the answer to {@link HELLO} says.
 * @throws ReadStoreUnavailable when it is a member that takes no writes: only `directConnection` leads there, and such a
 *   connection would read what is out of date and stay where it is after the next election
 */
export const deploymentOf = (answer: Readonly<Record<string, unknown>>): Deployment => {
  // Routers of a sharded cluster say this, and always take writes.
  if (answer.msg === 'isdbgrid') return 'copies';
  if (answer.setName === undefined) return 'single';
  if (answer.ismaster !== true)
    throw new ReadStoreUnavailable(
      'the document database is a member that takes no writes; leave out directConnection',
    );
  return 'copies';
};

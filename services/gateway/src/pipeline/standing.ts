import { hash } from 'node:crypto';
import type { Contract, OperationDefinition } from '@bindery/contracts';
import type { Principal } from '@bindery/service-kit';
import type { RequestScope } from './context.ts';
import type { CallOperation } from './embeds.ts';

const digest = (fact: readonly unknown[]): string => hash('sha256', JSON.stringify(fact), 'base64url').slice(0, 22);

/** What a caller's rights come from, one digest for each membership and one for the administration of the instance. */
export const standingOf = ({ instanceAdmin, organizations }: Principal): readonly string[] => [
  ...(instanceAdmin ? [digest(['instance'])] : []),
  ...Object.entries(organizations).map(([id, { role, teams }]) => digest([id, role, [...teams].sort()])),
];

/** Whether everything that a caller had is still there; what came in addition takes nothing away. */
export const standsAsBefore = (before: readonly string[], now: readonly string[]): boolean => {
  const current = new Set(now);
  return before.every((fact) => current.has(fact));
};

/**
 * Asks whether the caller still sees the space or organization that an operation is about, since a space can be closed
 * without a change of any membership. For repeats only, whose answer is not made anew.
 * @throws Problem not-found, as the read of the resource itself answers
 */
export const createStillVisible = (operation: OperationDefinition, contract: Contract, call: CallOperation) => {
  const readers = [
    ['spaceId', 'getSpaceById'],
    ['organizationId', 'getOrganizationById'],
  ] as const;
  const [param, reader] = readers.find(([name]) => operation.path.includes(`{${name}}`)) ?? [];
  return async (scope: RequestScope, principal: Principal, params: Readonly<Record<string, string>>): Promise<void> => {
    if (param === undefined || reader === undefined) return;
    const request = { params: { [param]: params[param] }, query: {}, body: undefined };
    await call(contract.operation(reader), scope.context(principal), request);
  };
};

import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import { invalid, isProblem, type OperationContext } from '@bindery/service-kit';
import type { Hostname, SubdomainClaims } from '../../shared/hostnames.ts';
import type { SubdomainCommand, SubdomainEvent, SubdomainState } from './aggregate.ts';
import { isReservedSubdomain } from './reserved.ts';

export type SubdomainRepository = Repository<SubdomainState, SubdomainCommand, SubdomainEvent>;

/** Longer than any request takes. */
const abandonedAfterMs = 10 * 60_000;

const refusals: ReadonlySet<string> = new Set(['invalid', 'conflict', 'precondition', 'not-found', 'forbidden']);

export const createSubdomainClaims = (deps: {
  readonly subdomains: SubdomainRepository;
  /** The hostname of an organization as its stream says. */
  readonly hostnameOf: (organizationId: string) => Promise<Hostname | undefined>;
}): SubdomainClaims => {
  const abandoned = async (context: OperationContext, name: string): Promise<string | undefined> => {
    const { state } = await deps.subdomains.load(name);
    if (state.status === 'free') return undefined;
    if (context.now.getTime() - Date.parse(state.claimedAt) < abandonedAfterMs) return undefined;
    const hostname = await deps.hostnameOf(state.organizationId);
    return hostname?.name === name ? undefined : state.claimId;
  };

  const release: SubdomainClaims['release'] = async (context, organizationId, { name, claimId }) => {
    const data = { subdomain: name, organizationId, claimId, releasedAt: context.now.toISOString() };
    await deps.subdomains.handle(name, { type: 'ReleaseSubdomain', data }, commandMetadata(context, organizationId));
  };

  return {
    async claim(context, organizationId, name) {
      if (isReservedSubdomain(name))
        throw invalid('organization.hostname_reserved', 'body.hostname: is kept for the instance itself');
      const claimId = context.ids.id();
      const stale = await abandoned(context, name);
      const data = {
        subdomain: name,
        organizationId,
        claimId,
        claimedAt: context.now.toISOString(),
        ...(stale === undefined ? {} : { abandoned: stale }),
      };
      await deps.subdomains.handle(name, { type: 'ClaimSubdomain', data }, commandMetadata(context, organizationId));
      return claimId;
    },
    release,
    async giveBack(context, organizationId, hostname, error) {
      const { name, claimId } = hostname ?? {};
      if (name === undefined || claimId === undefined || !isProblem(error) || !refusals.has(error.kind)) return;
      await release(context, organizationId, { name, claimId });
    },
  };
};

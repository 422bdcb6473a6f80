import type { OperationContext } from '@bindery/service-kit';

/** The hostname of an organization, with the claim on the name that it rests on. */
export interface Hostname {
  readonly name: string;
  readonly claimId: string;
}

/**
 * Claims on names, taken before a hostname is set and released after it was given up. A process that dies in between
 * leaves a claim that no hostname rests on: the same organization takes it anew at any time, others after ten minutes.
 */
export interface SubdomainClaims {
  /** @returns id of the claim @throws Problem 400 for a name that is kept for the instance, 409 when another organization has it */
  claim(context: OperationContext, organizationId: string, name: string): Promise<string>;
  release(context: OperationContext, organizationId: string, hostname: Hostname): Promise<void>;
  /** Undoes a claim when the change it was for was refused; kept when the outcome is unknown. */
  giveBack(
    context: OperationContext,
    organizationId: string,
    hostname: { readonly name: string; readonly claimId?: string } | undefined,
    error: unknown,
  ): Promise<void>;
}

import type { OperationContext, Principal } from '@bindery/service-kit';

/**
 * Turns the SHA-256 of a token, in lower-case hex, into who it stands for; null when it stands for nobody.
 * @param address where the request comes from; the principal carries it sealed
 */
export type ResolveToken = (tokenHash: string, context: OperationContext, address: string) => Promise<Principal | null>;

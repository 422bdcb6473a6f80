import type { Principal } from '@bindery/service-kit';

/** Seals where a user's request comes from, for the metadata of what it causes. */
export type SealOrigin = (userId: string, address: string) => Promise<string | undefined>;

/** The principal with the sealed address of its request, where both are known. */
export const withOrigin = async (
  principal: Principal | null,
  address: string | undefined,
  seal: SealOrigin,
): Promise<Principal | null> => {
  if (principal === null || address === undefined) return principal;
  const origin = await seal(principal.id, address);
  return origin === undefined ? principal : { ...principal, origin };
};

import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import { originPurpose } from './present.ts';

/** Seals the addresses of callers under their own keys, so that events can carry them (PITFALLS 39). */
export interface Origins {
  /** undefined: there is no key to seal it under any more. */
  seal(userId: string, address: string): Promise<string | undefined>;
  /** Ends what is remembered about a user. */
  forget(userId: string): void;
}

/** Pairs of user and address that are remembered: sealing costs more than everything else about them. */
const remembered = 10_000;

export const createOrigins = (sealer: PersonalDataSealer): Origins => {
  const known = new Map<string, Map<string, string>>();
  let total = 0;
  const forget = (userId: string): void => {
    total -= known.get(userId)?.size ?? 0;
    known.delete(userId);
  };
  return {
    async seal(userId, address) {
      const before = known.get(userId)?.get(address);
      if (before !== undefined) return before;
      const sealed = (await sealer.sealKnown(userId, originPurpose, { address }))?.sealed;
      if (sealed === undefined) return undefined;
      for (const oldest of known.keys()) {
        if (total < remembered) break;
        forget(oldest);
      }
      const own = known.get(userId) ?? new Map<string, string>();
      known.set(userId, own.set(address, sealed));
      total += 1;
      return sealed;
    },
    forget,
  };
};

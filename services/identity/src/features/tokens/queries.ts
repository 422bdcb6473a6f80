import type { LiveCollection } from '@bindery/event-sourcing';
import { type TokenDocument, tokenCollection } from './read-model.ts';

export type LiveTokens = () => ReturnType<typeof openTokens>;

export const openTokens = (live: LiveCollection) => live<TokenDocument>(tokenCollection);

/** The token with this hash, if it was issued and not revoked. */
export const tokenByHash = async (tokens: LiveTokens, hash: string): Promise<TokenDocument | undefined> => {
  const [found] = await tokens().query({ where: { hash }, limit: 1 });
  return found?.document;
};

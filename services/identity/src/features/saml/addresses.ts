import { rawRoutes } from '@bindery/contracts';

/** Where a provider's routes are, below the public address of the instance. */
export const samlPaths = {
  metadata: rawRoutes.samlMetadata.path,
  start: rawRoutes.startSamlLogin.path,
  acs: rawRoutes.consumeSamlResponse.path,
  finish: rawRoutes.finishSamlLogin.path,
} as const;

/**
 * The addresses of one provider. Each provider has a name of ours (`entityID`) and a consumer of its own, so that what one
 * identity provider says can never be meant for another.
 */
export const addressesOf = (baseUrl: string, providerId: string) => {
  const at = (path: string): string => `${baseUrl}${path.replace('{providerId}', providerId)}`;
  return {
    entityID: at(samlPaths.metadata),
    acsURL: at(samlPaths.acs),
    startURL: at(samlPaths.start),
    finishPath: samlPaths.finish.replace('{providerId}', providerId),
  };
};

export type ProviderAddresses = ReturnType<typeof addressesOf>;

const longestReturn = 512;

/**
 * Where to go after signing in: a path of this origin, or `/`. Browsers read `//host` and `/\host` as other origins, and
 * drop tabs and line breaks before they look.
 */
export const sameOriginPath = (given: string | null | undefined): string => {
  if (given === null || given === undefined || given.length > longestReturn) return '/';
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(given) || given.includes('\\')) return '/';
  const { origin, pathname, search, hash } = new URL(given, 'https://bindery.invalid');
  // Resolving `/..//host` makes `//host`, which is another origin once more.
  return origin === 'https://bindery.invalid' && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/';
};

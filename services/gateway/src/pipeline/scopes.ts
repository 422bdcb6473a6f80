import type { OperationDefinition } from '@bindery/contracts';
import { type Principal, Problem } from '@bindery/service-kit';

/**
 * A token that is limited to scopes calls only operations of those scopes; none where an operation has no scope.
 * @throws Problem 403 that names the missing scope (gaps-filled section 12; challenge as in RFC 6750 section 3.1)
 */
export const requireScope = ({ scope }: OperationDefinition, { scopes }: Principal): void => {
  if (scopes === undefined || (scope !== undefined && scopes.includes(scope))) return;
  if (scope === undefined)
    throw new Problem(
      'forbidden',
      'scope.none',
      'The token is limited to scopes, and none covers this operation; a token without scopes may call it.',
    );
  throw new Problem('forbidden', 'scope.missing', `The token lacks the scope ${scope}.`, {
    details: {
      scope,
      headers: { 'www-authenticate': `Bearer realm="bindery", error="insufficient_scope", scope="${scope}"` },
    },
  });
};

import { type MergeRules, resolveSubjects } from '@bindery/contracts';
import { invalid, type OperationContext, type ServiceClient } from '@bindery/service-kit';

/** Users that one call asks about. */
const mostAsked = 1000;

/**
 * As an organization does with its own: somebody who is no member could never meet a rule, or pass one over.
 * @param mergeRules those that a space is to have
 * @throws Problem 400 for people in rules who are no members, and for rules that nothing evaluates (ADR 16)
 */
export const requireUsableRules = async (
  services: ServiceClient,
  context: OperationContext,
  organizationId: string,
  mergeRules: MergeRules | { readonly type: 'inherit' } | undefined,
): Promise<void> => {
  if (mergeRules?.type !== 'rules') return;
  const custom = mergeRules.rules.findIndex(({ rule }) => rule === 'custom');
  // One that nothing evaluates would look as if it protected the space.
  if (custom >= 0)
    throw invalid('space.custom_merge_rule', `body.mergeRules.rules[${custom}]: custom rules are not supported`);
  const named = [...new Set(mergeRules.rules.flatMap((rule) => ('users' in rule ? rule.users : [])))];
  const members = new Set<string>();
  for (let from = 0; from < named.length; from += mostAsked) {
    const body = { organizationId, users: named.slice(from, from + mostAsked) };
    const answer = await services.call(resolveSubjects, context, { params: {}, query: {}, body });
    for (const id of answer.body.users) members.add(id);
  }
  for (const [index, rule] of mergeRules.rules.entries()) {
    const place = 'users' in rule ? rule.users.findIndex((id) => !members.has(id)) : -1;
    if (place >= 0)
      throw invalid(
        'space.merge_rule_user',
        `body.mergeRules.rules[${index}].users[${place}]: is not a member of the organization`,
      );
  }
};

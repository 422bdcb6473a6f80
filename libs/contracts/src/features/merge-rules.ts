import Type, { type TSchema } from 'typebox';
import { component } from '../kit/components.ts';
import { closed, Id, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

/** Rules that name users. */
const userRules = ['require_specific_reviewers', 'require_one_of_specific_reviewers', 'allow_bypass'] as const;

/** Rules that stand by themselves. */
const plainRules = [
  'require_at_least_one_review',
  'require_at_least_one_approved_review',
  'require_all_reviews_approved',
  'require_agent_review',
  'require_up_to_date_change_request',
  'require_change_request_subject',
  'require_change_request_description',
  'require_author_to_merge',
] as const;

/** One rule (resources section 0: MergeRule). */
interface UserRule {
  readonly rule: (typeof userRules)[number];
  readonly users: readonly string[];
}
interface PlainRule {
  readonly rule: (typeof plainRules)[number];
}
interface CustomRule {
  readonly rule: 'custom';
  readonly expression: string;
  readonly message?: string;
}
export type MergeRule = UserRule | PlainRule | CustomRule;

/** What must be true before a change request is merged, without `inherit` (resources section 0). */
export type MergeRules = { readonly type: 'none' } | { readonly type: 'rules'; readonly rules: readonly MergeRule[] };

const byRule = (branches: readonly TSchema[]) => ({ anyOf: branches });

/** MergeRule of the reference; the bounds of the lists are our own. */
export const MergeRule = component(
  'MergeRule',
  Type.Unsafe<MergeRule>(
    byRule([
      closed({
        rule: words(userRules),
        users: Type.Array(Id('Id of a member.'), { maxItems: limits.mergeRules.users }),
      }),
      closed({ rule: words(plainRules) }),
      closed({
        rule: words(['custom']),
        expression: Type.String({ maxLength: limits.mergeRules.expression }),
        message: Type.Optional(Type.String({ maxLength: limits.mergeRules.message })),
      }),
    ]),
  ),
);

/** MergeRulesStandaloneConfiguration of the reference. */
export const MergeRules = component(
  'MergeRulesStandaloneConfiguration',
  Type.Unsafe<MergeRules>(
    byRule([
      closed({ type: words(['none']) }),
      closed({ type: words(['rules']), rules: Type.Array(MergeRule, { maxItems: limits.mergeRules.rules }) }),
    ]),
  ),
);

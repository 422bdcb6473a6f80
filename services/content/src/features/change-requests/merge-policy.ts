import { loadMergeRules, type MergeRules } from '@bindery/contracts';
import { atLeast, type OperationContext, type ServiceClient } from '@bindery/service-kit';
import type { LevelsOfMembers } from '../permissions/index.ts';
import type { SpaceDocument } from '../space-model/index.ts';
import type { MergeFacts, MergeRule } from './merge-rules.ts';
import type { OpenedChangeRequest } from './state.ts';

/** Reads what a merge is decided with. @param mergeRules of the space @throws Problem while the organization's cannot be read */
export type FactsOf = (
  state: OpenedChangeRequest,
  primary: string,
  mergeRules: SpaceDocument['mergeRules'],
) => Promise<MergeFacts>;

/** Merge rules and what they ask about people. */
export interface MergePolicy {
  factsFor(context: OperationContext, space: SpaceDocument): FactsOf;
}

export const createMergePolicy = ({
  services,
  levelsOf,
}: {
  readonly services: ServiceClient;
  readonly levelsOf: LevelsOfMembers;
}): MergePolicy => {
  const rulesOf = async (
    context: OperationContext,
    organizationId: string,
    own: MergeRules | { readonly type: 'inherit' },
  ): Promise<readonly MergeRule[]> => {
    if (own.type === 'rules') return own.rules;
    if (own.type === 'none') return [];
    const request = { params: {}, query: {}, body: { organizationId } };
    const { mergeRules } = (await services.call(loadMergeRules, context, request)).body;
    return mergeRules.type === 'rules' ? mergeRules.rules : [];
  };
  return {
    factsFor: (context, space) => async (state, primary, mergeRules) => {
      const rules = await rulesOf(context, space.organizationId, mergeRules as MergeRules | { type: 'inherit' });
      if (rules.length === 0) return { rules, primary, mayReview: new Map() };
      const reviewers = [...state.latest.keys()];
      const levels = await levelsOf(context, space, reviewers);
      const mayReview = new Map(reviewers.map((user) => [user, atLeast(levels.get(user) ?? null, 'review')]));
      return { rules, primary, mayReview };
    },
  };
};

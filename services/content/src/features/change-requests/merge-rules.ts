import type { JSONDocument, MergeRules } from '@bindery/contracts';
import { plainText } from '@bindery/documents';
import { conflict, type Problem } from '@bindery/service-kit';
import type { LatestReview, Reviewing } from './review-rules.ts';

/** One rule (resources section 0). */
export type MergeRule = Extract<MergeRules, { type: 'rules' }>['rules'][number];

/** What a merge is decided with beside the change request itself; read anew for every attempt. */
export interface MergeFacts {
  /** Of the space, or of its organization when it inherits them. */
  readonly rules: readonly MergeRule[];
  /** Newest revision of the space's primary content. */
  readonly primary: string;
  /** Whether each of the reviewers may still review in the space. Reviews of those who may not count neither way. */
  readonly mayReview: ReadonlyMap<string, boolean>;
}

/** A rule that keeps a change request from being merged. */
export interface UnmetRule {
  readonly rule: MergeRule['rule'];
  /** What is missing, and what would meet it. */
  readonly message: string;
}

/** What rules look at. */
interface Candidate extends Reviewing {
  readonly number: number;
  readonly subject: string;
  readonly description?: JSONDocument;
  readonly createdBy: string;
  readonly revision: string;
  readonly revisionMergedAncestor: string;
}

/** Users that a message names; a rule can name a hundred. */
const maxNamed = 10;

const names = (users: readonly string[]): string => {
  const more = users.length - maxNamed;
  return more > 0 ? `${users.slice(0, maxNamed).join(', ')} and ${more} more` : users.join(', ');
};

/** Blocks that say something without words. */
const wordless: ReadonlySet<unknown> = new Set(['image', 'images', 'file', 'embed', 'openapi', 'openapi-operation']);

const says = (description: JSONDocument | undefined): boolean =>
  description !== undefined &&
  (plainText(description).trim() !== '' || description.nodes.some(({ type }) => wordless.has(type)));

/** The reviews that count: the latest of everybody but the author who may still review. */
const counting = ({ latest, createdBy }: Candidate, { mayReview }: MergeFacts): ReadonlyMap<string, LatestReview> =>
  new Map([...latest].filter(([user]) => user !== createdBy && mayReview.get(user) === true));

/** Why the approval of somebody is missing. */
const lacking = (candidate: Candidate, reviews: ReadonlyMap<string, LatestReview>, user: string): string => {
  if (user === candidate.createdBy) return `${user} (is its author, whose own review does not count)`;
  const review = reviews.get(user);
  if (review === undefined)
    return candidate.latest.has(user) ? `${user} (reviewed it, but may not review here any more)` : user;
  if (review.status !== 'approved') return `${user} (requested changes)`;
  return `${user} (approved an earlier revision)`;
};

const missing = (candidate: Candidate, facts: MergeFacts, by: string, rule: MergeRule): string | undefined => {
  const reviews = counting(candidate, facts);
  const isCurrent = ({ revisionId }: LatestReview): boolean => revisionId === candidate.revision;
  const approves = (review: LatestReview | undefined): boolean =>
    review !== undefined && review.status === 'approved' && isCurrent(review);
  const current = [...reviews.values()].filter(isCurrent);
  const lack = (users: readonly string[]): string => names(users.map((user) => lacking(candidate, reviews, user)));
  switch (rule.rule) {
    case 'allow_bypass':
      return undefined;
    case 'require_specific_reviewers': {
      const open = rule.users.filter((user) => !approves(reviews.get(user)));
      return open.length === 0 ? undefined : `each of these must approve its current revision: ${lack(open)}.`;
    }
    case 'require_one_of_specific_reviewers':
      if (rule.users.some((user) => approves(reviews.get(user)))) return undefined;
      return rule.users.length === 0
        ? 'it names nobody; an administrator must change it.'
        : `one of these must approve its current revision: ${lack(rule.users)}.`;
    case 'require_at_least_one_review':
      if (current.length > 0) return undefined;
      return 'nobody has reviewed its current revision; somebody other than its author must.';
    case 'require_at_least_one_approved_review':
      if (current.some(approves)) return undefined;
      return 'nobody has approved its current revision; somebody other than its author must.';
    case 'require_all_reviews_approved': {
      const open = [...reviews.keys()].filter((user) => !approves(reviews.get(user)));
      return open.length === 0 ? undefined : `whoever reviewed it must approve its current revision: ${lack(open)}.`;
    }
    case 'require_agent_review':
      return 'a review by an agent is needed, and there are no agents here; an administrator must remove the rule.';
    case 'require_up_to_date_change_request':
      if (candidate.revisionMergedAncestor === facts.primary) return undefined;
      return 'the space has changed since; update the change request first.';
    case 'require_change_request_subject':
      return candidate.subject.trim() === '' ? 'it has no subject; give it one.' : undefined;
    case 'require_change_request_description':
      return says(candidate.description) ? undefined : 'it has no description; give it one.';
    case 'require_author_to_merge':
      return by === candidate.createdBy ? undefined : `only its author, ${candidate.createdBy}, may merge it.`;
    case 'custom':
      // Refused when written; one that is there all the same is not taken for met.
      return `${rule.message ?? 'expressions are not evaluated'}; an administrator must remove the rule.`;
  }
};

/** The rules that are not met when `by` merges, in their order. */
export const unmetRules = (candidate: Candidate, facts: MergeFacts, by: string): readonly UnmetRule[] =>
  facts.rules.flatMap((rule) => {
    const message = missing(candidate, facts, by, rule);
    return message === undefined ? [] : [{ rule: rule.rule, message }];
  });

/** Whether the facts were read before somebody reviewed for the first time: they do not say whether it may. */
export const isStale = ({ latest }: Reviewing, { rules, mayReview }: MergeFacts): boolean =>
  rules.length > 0 && [...latest.keys()].some((user) => !mayReview.has(user));

/** Whether a rule lets somebody merge whatever the others say. Being an administrator does not. */
export const mayBypass = ({ rules }: MergeFacts, by: string): boolean =>
  rules.some((rule) => rule.rule === 'allow_bypass' && rule.users.includes(by));

/**
 * Refuses a merge for its rules.
 * @returns the rules that are not met and that `by` may leave unmet
 * @throws Problem conflict: names every rule that is not met, and what would meet it
 */
export const requireRules = (candidate: Candidate, facts: MergeFacts, by: string): readonly MergeRule['rule'][] => {
  const unmet = unmetRules(candidate, facts, by);
  if (unmet.length > 0 && !mayBypass(facts, by)) throw refused(candidate, unmet);
  return unmet.map(({ rule }) => rule);
};

const refused = ({ number }: Candidate, unmet: readonly UnmetRule[]): Problem =>
  conflict(
    'change_request.merge_rules',
    `Change request ${number} cannot be merged yet. ${unmet.map(({ rule, message }) => `${rule}: ${message}`).join(' ')}`,
    { rules: unmet.map(({ rule }) => rule) },
  );

import type { Static } from 'typebox';
import { MergeRulesStandaloneConfiguration } from './spaces.ts';

/** What must be true before a change request is merged, without `inherit` (resources section 0). */
export const MergeRules = MergeRulesStandaloneConfiguration;
export type MergeRules = Static<typeof MergeRules>;

/** Ranks of the roles: read < comment < edit < review < create < admin (DESIGN section 7). */
export const memberRoles = ['read', 'comment', 'edit', 'review', 'create', 'admin'] as const;
export type MemberRole = (typeof memberRoles)[number];

const rank = new Map<string, number>(memberRoles.map((role, index) => [role, index + 1]));

/** 0 for null (guest, no level), then 1..6. */
export const roleRank = (role: MemberRole | null | undefined): number => (role ? (rank.get(role) ?? 0) : 0);
/** Whether `have` reaches `need`. */
export const atLeast = (have: MemberRole | null | undefined, need: MemberRole): boolean =>
  roleRank(have) >= roleRank(need);
/** The higher of the two. */
export const maxRole = (a: MemberRole | null | undefined, b: MemberRole | null | undefined): MemberRole | null =>
  (roleRank(a) >= roleRank(b) ? a : b) ?? null;

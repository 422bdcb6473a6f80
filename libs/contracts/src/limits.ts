/**
 * Every limit of the product, in one place. Sources: reference, section Limits ("R"); gaps-filled section 13 ("G");
 * "own" where every source is silent (docs/adr/0004-open-points.md).
 */
export const limits = {
  /** G: ids in paths. The length bound is our own: it keeps keys small. */
  id: { pattern: '^[a-zA-Z0-9_-]+$', maxLength: 64 },
  /** G: any URL. */
  url: { maxLength: 2048 },
  /** Own: longest request target that is read; longer ones answer 414. */
  requestTarget: { maxLength: 8192 },
  /** Own: longest cursor that is looked at. */
  cursor: { maxLength: 1024 },
  /** R: `limit` at most 1000. The default is our own. */
  page: { maximum: 1000, default: 50 },
  /** G: default of the two change lists. The maximum is that of every list. */
  changeList: { default: 10, maximum: 1000 },
  /** Request bodies in bytes: standard, and where scripts, specifications or files are carried. */
  body: { standard: 1024 * 1024, large: 8 * 1024 * 1024 },
  /** Own: nesting depth of a JSON body. */
  json: { maxDepth: 100 },
  space: { title: 50, emoji: 50, retentionDays: 7 },
  /** R: title; G: description. The others are our own: depth counts the outermost one. */
  collection: { title: 50, description: 100, depth: 10, perOrganization: 1000 },
  /** Own: users and teams with a level on one space or collection, and those of one invitation. */
  grants: { perResource: 1000, perInvite: 100 },
  changeRequest: { subject: 100, links: 10, linkTitle: 128 },
  contentChanges: { minItems: 1, maxItems: 50 },
  page_: { title: 256, slug: 100, linkTitle: 100, description: 1024, condition: 1024, icon: 50, emoji: 50 },
  /** Own: markdown of one page, in characters and in lines; reading it takes at most a few tenths of a second. */
  markdown: { maxLength: 500_000, lines: 10_000 },
  /** Own: the document of one page as JSON, in characters: it travels in one event. */
  document: { maxLength: 4_000_000 },
  /** Own: people and teams that one change request asks for a review. */
  review: { requestedReviewers: 100 },
  /** Own. `document` in characters of JSON; reactions and their kinds of one comment or reply; replies of one comment. */
  comment: {
    markdown: 20_000,
    lines: 1000,
    document: 100_000,
    replies: 1000,
    reactions: 500,
    reactionKinds: 20,
    reactionsPerChange: 20,
    repliersShown: 100,
    authorsInFilter: 100,
    nodeKey: 128,
    cellKey: 256,
  },
  file: { name: 256, base64Bytes: 1024 * 1024, maxPerChange: 20, maxPixels: 100_000_000 },
  /**
   * Own: bytes of an upload by its kind; minutes in which it must come, hours that it is kept for, and uploads that one
   * member has at a time.
   */
  storage: {
    bytes: { customization_font: 5_000_000, import_file: 20_000_000, organization_file: 20_000_000 },
    validMinutes: 15,
    keptHours: 24,
    perMember: 50,
  },
  /**
   * Files of one run are the reference's. Own: pages and links from the first one, bytes of one page and of everything that
   * is fetched or unpacked, characters of all pages as markdown, pictures, entries of archives, minutes, and runs of one
   * organization at a time. `told`: pages that are named as left out, and runs that a space or change request shows.
   */
  importRun: {
    files: 50,
    pages: 500,
    depth: 20,
    pageBytes: 2_000_000,
    totalBytes: 100_000_000,
    characters: 10_000_000,
    images: 500,
    entries: 5_000,
    minutes: 30,
    active: 10,
    told: { pages: 100, runs: 10 },
  },
  /** Own: what one PDF holds at most. */
  pdf: { pages: 500, characters: 5_000_000, images: 500, imageBytes: 100_000_000 },
  /** Own: what names something in a repository. */
  git: { ref: 255, path: 512, commitMessage: 10_000 },
  /** R: slug. Own: bytes of a document, versions kept, errors told, specifications of an organization. */
  openapi: { slug: 100, bytes: 8 * 1024 * 1024, versions: 500, errors: 20, perOrganization: 1000 },
  reusableContent: { title: 100 },
  /** Own: what a space's content is computed from; `source` in characters of JSON. */
  computed: { source: 16_384, dependencies: 20 },
  variable: { value: 256 },
  /** Own: name of a template, names of its links, and how many of them one request fills. */
  template: { id: 256, refName: 64, refs: 50 },
  search: { query: 512 },
  user: { displayName: { min: 1, max: 64 }, email: 254 },
  organization: { title: { min: 2, max: 255 }, hostname: { min: 3, max: 32 }, emailDomains: 100 },
  /** R: title. Own: how many members one request adds or removes. */
  team: { title: { min: 1, max: 64 }, changes: 1000 },
  /** Own: addresses of one request, pending invitations of one address, and days that one waits. */
  invite: { emails: 100, pendingPerAddress: 100, days: 30 },
  /** Own: agent instructions as JSON, in characters. */
  agentInstructions: { maxLength: 100_000 },
  /** R: label, entity id and certificate. Own: how many providers an organization has. */
  saml: { label: 30, entityId: 1024, certificate: 10_000, perOrganization: 20 },
  token: { name: 100, perUser: 100 },
  /** Own: browsers that one user is signed in with, length of what they call themselves, and length of passwords. */
  session: { perUser: 50, userAgent: 256 },
  password: { minLength: 8, maxLength: 1024 },
  /** Page size of the audit (O); own: different refusals recorded per minute, events of one export. */
  audit: { page: 100, denialsPerMinute: 200, denialsPerActor: 20, exported: 100_000 },
  idempotencyKey: { maxLength: 255, retentionHours: 24 },
} as const;

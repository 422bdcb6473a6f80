import { type OperationDefinition, operations } from '@bindery/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { changeRequests } from './change-requests.ts';
import { comments } from './comments.ts';
import { git } from './git.ts';
import { imports } from './imports.ts';
import { openapi } from './openapi.ts';
import { organizations } from './organizations.ts';
import { pdf } from './pdf.ts';
import { spaces } from './spaces.ts';
import { storage } from './storage.ts';
import { teams } from './teams.ts';
import { startWorld, type World } from './world.ts';

/** Operations of our own, which the public clients do not know. */
const ours = [
  'listSessionsForAuthenticatedUser',
  'deleteSessionForAuthenticatedUser',
  'listTokensForAuthenticatedUser',
  'createTokenForAuthenticatedUser',
  'deleteTokenForAuthenticatedUser',
  'deleteAuthenticatedUser',
  'createOrganizationAuditExport',
];

/** Every operation of identity and content, called by the unmodified public clients on one running product. */
describe('the public clients call every operation', () => {
  let running: World | undefined;
  const world = (): World => {
    if (running === undefined) throw new Error('the product does not run');
    return running;
  };
  beforeAll(async () => {
    running = await startWorld();
  });
  afterAll(() => running?.product.stop());

  organizations(world);
  teams(world);
  spaces(world);
  changeRequests(world);
  comments(world);
  git(world);
  openapi(world);
  storage(world);
  imports(world);
  pdf(world);

  test('none of identity and content was left out', () => {
    const all: readonly OperationDefinition[] = Object.values(operations);
    const declared = all
      .filter(({ owner, surface, id }) => surface === 'public' && !ours.includes(id) && owner !== 'gateway')
      .map(({ id }) => id);
    const { called } = world().recorder;
    process.stderr.write(`public clients: ${called.size} of ${declared.length} operations\n`);
    expect(declared.filter((id) => !called.has(id)).sort()).toEqual([]);
  });

  test('no answer differs from what the client describes', () => {
    const { compared, complaints } = world().recorder;
    expect([...new Set(complaints)]).toEqual([]);
    expect(compared).toBeGreaterThan(150);
  });
});

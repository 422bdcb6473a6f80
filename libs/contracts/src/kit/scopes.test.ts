import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { operations } from '../operations.ts';
import type { OperationDefinition } from './operation.ts';
import { oauthScopes } from './scopes.ts';

const all: readonly OperationDefinition[] = Object.values(operations);

/**
 * Public operations that no scope covers, so that only tokens without scopes call them: the reference gives them none, or a
 * limited token could make more of itself with them. Whoever declares an operation gives it a scope, or adds it here.
 */
const withoutScope = new Set([
  'cancelImportRun',
  'createOrganizationAuditExport',
  'createOrganizationSAMLProvider',
  'createTokenForAuthenticatedUser',
  'createUserNotificationsToken',
  'deleteAuthenticatedUser',
  'deleteOrganizationSAMLProvider',
  'deleteSessionForAuthenticatedUser',
  'deleteTokenForAuthenticatedUser',
  'generateStorageUploadURL',
  'getContentByUrl',
  'getGitHubRepoFileForGitSyncInstallation',
  'getGitLabProjectFileForGitSyncInstallation',
  'getGitSyncInstallationById',
  'getOrganizationAIUsage',
  'getOrganizationAgentInstructions',
  'getOrganizationAuditEvent',
  'getOrganizationSAMLProviderById',
  'getOrganizationsForEmailDomain',
  'getSubdomain',
  'getUserById',
  'installGitSyncProviderOnTarget',
  'joinOrganization',
  'listGitHubRepoBranchesForGitSyncInstallation',
  'listGitHubRepositoriesForGitSyncInstallation',
  'listGitLabProjectBranchesForGitSyncInstallation',
  'listGitLabProjectsForGitSyncInstallation',
  'listOrganizationAuditEventActions',
  'listOrganizationAuditEvents',
  'listPageLinksInSpace',
  'listSAMLProvidersInOrganizationById',
  'listSSOProviderLoginsInOrganization',
  'listSessionsForAuthenticatedUser',
  'listSiteGitSyncInstallations',
  'listSpaceFileBacklinks',
  'listSpaceLinks',
  'listSpacePageBacklinks',
  'listTokensForAuthenticatedUser',
  'setUserAsSSOMemberForOrganization',
  'transferSpace',
  'uninstallGitSyncInstallation',
  'updateGitSyncInstallationById',
  'updateOrganizationAgentInstructions',
  'updateOrganizationMemberLastSeenAt',
  'updateOrganizationSAMLProvider',
  'updateUserById',
]);

test('every public operation has a scope, or is known to have none', () => {
  const open = all.filter(
    ({ surface, access, scope }) => surface === 'public' && access !== 'anonymous' && scope === undefined,
  );
  expect(open.map(({ id }) => id).filter((id) => !withoutScope.has(id))).toEqual([]);
  expect(all.filter(({ id, scope }) => withoutScope.has(id) && scope !== undefined).map(({ id }) => id)).toEqual([]);
});

test('operations outside /v1 have no scope: a token that is limited to scopes never gets there', () => {
  expect(all.filter(({ surface, scope }) => surface !== 'public' && scope !== undefined)).toEqual([]);
});

test('scopes are those that there are', () => {
  const known = new Set<string>(oauthScopes);
  expect(all.filter(({ scope }) => scope !== undefined && !known.has(scope))).toEqual([]);
});

test('what only reads needs no scope to write, and what writes does not get by with one to read', () => {
  const reading = /:(read|search|ask)$/;
  const writing = /:(write|publish|delete|merge)$/;
  for (const { id, method, scope } of all) {
    if (scope === undefined) continue;
    if (method === 'GET') expect([id, scope, writing.test(scope)]).toEqual([id, scope, false]);
    else if (!id.startsWith('search')) expect([id, scope, reading.test(scope)]).toEqual([id, scope, false]);
  }
});

const list = new URL('../../../../../shared/spec/operations.tsv', import.meta.url);
// The specification lies beside the repository only where the product is developed.
const withSpecification = existsSync(list) ? test : test.skip;
withSpecification('every operation has the scope that the specification names', () => {
  const [head = '', ...lines] = readFileSync(list, 'utf8').trimEnd().split('\n');
  const column = (name: string): number => head.split('\t').indexOf(name);
  const differences = lines.flatMap((line) => {
    const cells = line.split('\t');
    const operation = all.find(({ id }) => id === cells[column('id')]);
    const kinds = cells[column('auth')] ?? '';
    // `any` is every kind of token, which may still need a scope.
    if (operation === undefined || kinds === 'any') return [];
    const specified = /oauth\(([^)+]+)/.exec(kinds)?.[1];
    return specified === operation.scope ? [] : [`${operation.id}: ${operation.scope}, specified ${specified}`];
  });
  expect(differences).toEqual([]);
});

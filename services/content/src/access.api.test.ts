import { createContract, type OperationId, operations } from '@bindery/contracts';
import { memberRoles } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, openSpace, publish, startContent, type TestContent } from './testing.ts';

const admin = member('admin');
const contract = createContract(operations);
let content: TestContent;
let params: Record<string, string>;
beforeAll(async () => {
  content = await startContent();
  const spaceId = await openSpace(content, admin);
  await publish(content, admin, spaceId, [{ operation: 'insert_page', title: 'One', document: { markdown: 'x' } }]);
  const { body } = await content.call('getCurrentRevision', admin, { params: { spaceId } });
  params = {
    organizationId: 'o1',
    spaceId,
    revisionId: body.id,
    pageId: body.pages[0]?.id ?? '',
    changeRequestId: '1',
    pagePath: 'one',
    fileId: 'none',
    reusableContentId: 'none',
    documentId: 'none',
  };
});
afterAll(() => content.stop());

const bodies: Readonly<Partial<Record<string, object>>> = {
  updateSpaceById: {},
  createChangeRequest: {},
  updateChangeRequestById: {},
  updateChangeRequestContent: { changes: [{ operation: 'delete_page', page: 'none' }] },
};
const ofSpaces = [...contract.operations.values()].filter(
  ({ owner, surface, path }) => owner === 'content' && surface === 'public' && path.includes('{spaceId}'),
);
const requestFor = (id: string) => {
  const names = [...contract.operation(id).path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = '']) => name);
  const search = id.startsWith('search') ? { query: { query: 'x' } } : {};
  const body = bodies[id] ? { body: bodies[id] } : {};
  return { params: Object.fromEntries(names.map((name) => [name, params[name] ?? ''])), ...search, ...body };
};
/** What each level may do, as DESIGN section 7 and the table of `permissionsOf` have it. */
const least = { view: 'read', comment: 'comment', edit: 'edit', review: 'review', merge: 'review', admin: 'admin' };

describe('who may do what', () => {
  test.each(ofSpaces.map(({ id }) => id))(
    '%s is not there for strangers, guests and other organizations',
    async (id) => {
      const elsewhere = {
        ...member(undefined, 'elsewhere'),
        organizations: { o2: { role: 'admin' as const, teams: [] } },
      };
      for (const who of [member(undefined, 'stranger'), member(null), elsewhere]) {
        const { status } = await content.call(id as OperationId, who, requestFor(id));
        expect(status).toBe(id === 'deleteSpaceById' ? 204 : 404);
      }
    },
  );

  // Last, since what is allowed is done: reads first, the space's own end at the very last.
  const order = [...ofSpaces].sort((a, b) => Number(a.id === 'deleteSpaceById') - Number(b.id === 'deleteSpaceById'));
  test.each(order.map(({ id, access }) => [id, access] as const))('%s takes %s', async (id, access) => {
    const need = access.replace('space:', '') as keyof typeof least;
    expect(Object.keys(least)).toContain(need);
    const enough = memberRoles.indexOf(least[need] as (typeof memberRoles)[number]);
    for (const [rank, role] of memberRoles.entries()) {
      // Creating takes a right in the organization too.
      if (id === 'duplicateSpace' && rank >= enough && rank < memberRoles.indexOf('create')) continue;
      const { status } = await content.call(id as OperationId, member(role), requestFor(id));
      expect({ role, refused: status === 403 }).toEqual({ role, refused: rank < enough });
      expect(status).toBeLessThan(500);
    }
  });
});

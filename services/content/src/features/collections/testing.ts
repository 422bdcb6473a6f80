import type { Principal } from '@bindery/service-kit';
import { expect } from '@jest/globals';
import type { TestContent } from '../../testing.ts';

/** Lists of collections and spaces of `o1` and `o2` answer the same after a rebuild as before. @param people who ask */
export const sameAfterRebuild = async (content: TestContent, people: readonly Principal[]): Promise<void> => {
  const seen = async () => {
    const lists: string[] = [];
    for (const organizationId of ['o1', 'o2'])
      for (const operation of ['listCollectionsInOrganizationById', 'listSpacesInOrganizationById'] as const)
        for (const who of people)
          lists.push(
            JSON.stringify(await content.call(operation, who, { params: { organizationId }, query: { limit: 1000 } })),
          );
    return lists;
  };
  await content.settled();
  const before = await seen();
  await content.service.rebuild(['collections', 'grants', 'spaces']);
  expect(await seen()).toEqual(before);
};

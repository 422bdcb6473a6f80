import { describe, expect, test } from '@jest/globals';
import { extractText, getDocumentProxy } from 'unpdf';
import type { World } from './world.ts';

/** A PDF of a change request, fetched and read. */
export const pdf = (world: () => World): void =>
  describe('PDF', () => {
    test('the file at the address is a PDF that says what the pages say', async () => {
      const { admin, bob, organization } = world();
      const { orgs, spaces } = admin.api;
      const space = (await orgs.createSpace(organization, { title: 'Printed', empty: true })).data.id;
      const change = (await spaces.createChangeRequest(space, { subject: 'Printed' })).data.id;
      await spaces.updateChangeRequestContent(space, change, {
        changes: [
          { operation: 'insert_page', title: 'Front', document: { markdown: 'Hello, Добрый день, Καλημέρα.' } },
          {
            operation: 'insert_page',
            title: 'Back',
            document: { markdown: '* a point\n\n| A | B |\n|---|---|\n| c | d |' },
          },
        ],
      });
      const textOf = async (query?: { page?: string; only?: boolean }): Promise<string> => {
        const { url } = (await bob.api.spaces.getChangeRequestPdf(space, change, query)).data;
        const answer = await fetch(url);
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
        const bytes = new Uint8Array(await answer.arrayBuffer());
        expect(Buffer.from(bytes.subarray(0, 5)).toString()).toBe('%PDF-');
        return (await extractText(await getDocumentProxy(bytes), { mergePages: true })).text;
      };
      const all = await textOf();
      for (const word of ['Printed', 'Front', 'Hello', 'Добрый день', 'Καλημέρα', 'Back', 'a point'])
        expect(all).toContain(word);
      const { pages } = (await spaces.listPagesInChangeRequest(space, change)).data;
      const back = pages.find(({ title }) => title === 'Back')?.id ?? '';
      const one = await textOf({ page: back, only: true });
      expect([one.includes('a point'), one.includes('Hello')]).toEqual([true, false]);
    });
  });

import { StorageUploadKind } from '@gitbook/api';
import { describe, expect, test } from '@jest/globals';
import type { World } from './world.ts';

/** Uploads beside the JSON contract. */
export const storage = (world: () => World): void =>
  describe('storage', () => {
    test('a file is uploaded to a signed address and inserted by it', async () => {
      const { admin, bob, organization } = world();
      const { orgs, spaces } = admin.api;
      const text = 'Uploaded.\n';
      const file = { name: 'note.txt', type: 'text/plain', size: text.length };
      const made = await orgs.generateStorageUploadUrl(organization, {
        file,
        kind: StorageUploadKind.OrganizationFile,
      });
      expect(made.status).toBe(201);
      const { url, key } = made.data;
      expect(url).toContain(key);
      expect((await fetch(url, { method: 'PUT', body: 'too many bytes' })).status).toBe(400);
      expect((await fetch(url, { method: 'PUT', body: text })).ok).toBe(true);

      const space = (await orgs.createSpace(organization, { title: 'With a file', empty: true })).data.id;
      const change = (await spaces.createChangeRequest(space, { subject: 'A file' })).data.id;
      await spaces.updateChangeRequestContent(space, change, {
        changes: [{ operation: 'insert_files', files: [{ url, name: 'note.txt' }] }],
      });
      await spaces.mergeChangeRequest(space, change);
      const [stored] = (await spaces.listFiles(space)).data.items;
      expect(stored).toMatchObject({ name: 'note.txt', size: text.length });
      expect(await (await fetch(stored?.downloadURL ?? '')).text()).toBe(text);
      await expect(
        bob.api.orgs.generateStorageUploadUrl(organization, { file, kind: StorageUploadKind.OrganizationFile }),
      ).rejects.toMatchObject({ code: 403 });
      const huge = { ...file, size: 1e15 };
      await expect(
        orgs.generateStorageUploadUrl(organization, { file: huge, kind: StorageUploadKind.OrganizationFile }),
      ).rejects.toMatchObject({ code: 400 });
    });
  });

import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeMailConformance } from '@bindery/testing/mail';
import { expect, test } from '@jest/globals';
import { createOutboxMailer } from './outbox.ts';

const from = 'Bindery <bindery@example.org>';

describeMailConformance('outbox', {
  async createPlace() {
    const parent = await mkdtemp(join(tmpdir(), 'outbox-'));
    const folder = join(parent, 'mail');
    return {
      mailer: createOutboxMailer({ folder, from }),
      arrived: async () => Promise.all((await readdir(folder)).sort().map((name) => readFile(join(folder, name)))),
      async breakIt() {
        await rm(folder, { recursive: true });
        await writeFile(folder, 'a file is in the way');
      },
      dispose: () => rm(parent, { recursive: true }),
    };
  },
});

test('keeps the newest mails, for nobody but its owner, and touches nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'outbox-'));
  await writeFile(join(folder, 'notes.txt'), 'mine');
  await chmod(folder, 0o700);
  const mailer = createOutboxMailer({ folder, from, keep: 3 });
  for (let n = 0; n < 6; n += 1) await mailer.send({ id: `m${n}`, to: 'ann@example.org', subject: 's', text: 't' });
  expect((await readdir(folder)).sort()).toEqual(['m3.eml', 'm4.eml', 'm5.eml', 'notes.txt']);
  expect((await stat(join(folder, 'm5.eml'))).mode & 0o777).toBe(0o600);
  await rm(folder, { recursive: true });
});

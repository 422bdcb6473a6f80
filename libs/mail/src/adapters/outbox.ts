import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { composed, parseSender } from '../message.ts';
import { type Mailer, MailUnavailable } from '../port.ts';

export interface OutboxOptions {
  /** Folder of the mails; made when it is not there, readable for its owner alone. */
  readonly folder: string;
  /** `Name <address>` or an address. */
  readonly from: string;
  /** Most mails that are kept, the newest; default 1000. */
  readonly keep?: number;
}

const suffix = '.eml';

/**
 * Mail that goes nowhere: every message becomes a file `<id>.eml` which any mail program opens. A message that is sent
 * again takes the place of the first. For trying things out, and for instances without a mail server, whose operator
 * passes links on.
 * @throws RangeError for a sender that is none
 */
export const createOutboxMailer = ({ folder, from, keep = 1000 }: OutboxOptions): Mailer => {
  const sender = parseSender(from);
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });

  const forgetOldest = async (): Promise<void> => {
    const names = (await readdir(folder)).filter((name) => name.endsWith(suffix));
    if (names.length <= keep) return;
    const dated = await Promise.all(
      names.map(async (name) => ({ name, time: (await stat(join(folder, name))).mtimeMs })),
    );
    dated.sort((a, b) => a.time - b.time || (a.name < b.name ? -1 : 1));
    for (const { name } of dated.slice(0, names.length - keep)) await unlink(join(folder, name));
  };

  return {
    async send(message, signal) {
      const mail = composed(sender, message);
      if (signal?.aborted) throw new MailUnavailable('given up before it was written');
      const { message: bytes } = await transport.sendMail(mail);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const path = join(folder, `${message.id}${suffix}`);
        const file = await open(`${path}.part`, 'w', 0o600);
        try {
          await file.writeFile(bytes as Buffer);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(`${path}.part`, path);
        await forgetOldest();
      } catch (cause) {
        throw new MailUnavailable('the outbox cannot be written', { cause });
      }
      return 'sent';
    },
    async close() {
      transport.close();
    },
  };
};

import { type Mailer, type MailMessage, MailUnavailable } from '@bindery/mail';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import PostalMime, { type Email } from 'postal-mime';

/** An adapter with the place where its mail arrives. */
export interface MailPlace {
  /** Sends from `Bindery <bindery@example.org>`. */
  readonly mailer: Mailer;
  /** Everything that arrived, as it came over the wire, oldest first. */
  arrived(): Promise<readonly Uint8Array[]>;
  /** From now on nothing can be handed over. */
  breakIt(): Promise<void>;
  dispose(): Promise<void>;
}

/** What an adapter gives to its conformance suite. */
export interface MailHarness {
  createPlace(): Promise<MailPlace>;
}

const message = (id: string, changes: Partial<MailMessage> = {}): MailMessage => ({
  id,
  to: 'ann@example.org',
  subject: 'Hello',
  text: 'A line.\n',
  ...changes,
});

/** Everything that the mail port promises; every adapter runs it. */
export const describeMailConformance = (name: string, harness: MailHarness): void => {
  describe(`mail: ${name}`, () => {
    let place: MailPlace;
    beforeAll(async () => {
      place = await harness.createPlace();
    });
    afterAll(() => place.dispose());

    const mails = async (): Promise<readonly Email[]> =>
      Promise.all((await place.arrived()).map((bytes) => PostalMime.parse(bytes)));
    const mail = async (id: string): Promise<Email> => {
      const found = (await mails()).findLast(({ messageId }) => messageId === `<${id}@example.org>`);
      if (found === undefined) throw new Error(`no mail ${id}`);
      return found;
    };

    test('what is sent arrives as it was, in any script', async () => {
      const text = `Grüße, 世界 🌍\n\n.\nFrom the start\n${'long '.repeat(300)}\nhttps://docs.example.org/?a=b&c==\n`;
      const sent = message('one', { to: 'ann+tag@example.org', subject: `Grüße 世界 ${'x'.repeat(100)}`, text });
      expect(await place.mailer.send(sent)).toBe('sent');
      const got = await mail('one');
      expect(got.subject).toBe(sent.subject);
      expect(got.text?.replaceAll('\r\n', '\n').trimEnd()).toBe(text.trimEnd());
      expect(got.to).toEqual([{ name: '', address: 'ann+tag@example.org' }]);
      expect(got.from).toEqual({ name: 'Bindery', address: 'bindery@example.org' });
      expect(got.html).toBeUndefined();
      expect(got.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
    });

    test('sent again it is the same mail: the same Message-ID', async () => {
      expect(await place.mailer.send(message('twice'))).toBe('sent');
      expect(await place.mailer.send(message('twice'))).toBe('sent');
      const ids = new Set((await mails()).map(({ messageId }) => messageId));
      expect(ids).toEqual(new Set(['<one@example.org>', '<twice@example.org>']));
    });

    test('no field smuggles in a header or another receiver', async () => {
      await place.mailer.send(message('sly', { subject: 'Hi\r\nBcc: eve@example.org\r\n\r\nbody\u2028x\0' }));
      const got = await mail('sly');
      expect(got.bcc).toBeUndefined();
      expect(got.subject).toBe('Hi Bcc: eve@example.org body x');
      const before = (await mails()).length;
      for (const to of [
        'ann@example.org\r\nBcc: eve@example.org',
        'ann@example.org, eve@example.org',
        'ann@example.org;eve@example.org',
        '"ann@example.org" <eve@example.org>',
        'group: ann@example.org;',
        'ann',
        '',
        `${'a'.repeat(250)}@example.org`,
        'a\0nn@example.org',
      ])
        await expect(place.mailer.send(message('bad', { to }))).rejects.toThrow(RangeError);
      for (const id of ['', '../up', 'a b', 'a\r\nb', 'x'.repeat(201), 'a/b', 'a@b'])
        await expect(place.mailer.send(message(id))).rejects.toThrow(RangeError);
      await expect(place.mailer.send(message('big', { text: 'x'.repeat(20_001) }))).rejects.toThrow(RangeError);
      expect((await mails()).length).toBe(before);
    });

    test('twenty at once arrive, each once', async () => {
      const ids = Array.from({ length: 20 }, (_, n) => `many-${n}`);
      await Promise.all(ids.map((id) => place.mailer.send(message(id))));
      const got = (await mails()).map(({ messageId }) => messageId).filter((id) => id?.startsWith('<many-'));
      expect(got.sort()).toEqual(ids.map((id) => `<${id}@example.org>`).sort());
    });

    test('gives up when it is told to', async () => {
      await expect(place.mailer.send(message('late'), AbortSignal.abort())).rejects.toBeInstanceOf(MailUnavailable);
    });

    test('says when it cannot hand over, without naming anybody; closing twice is fine', async () => {
      await place.breakIt();
      const error: unknown = await place.mailer.send(message('lost', { text: 'secret-marker' })).catch((e) => e);
      expect(error).toMatchObject({ code: 'mail.unavailable' });
      expect(String(Object(error).message)).not.toMatch(/ann@|secret-marker/);
      await place.mailer.close();
      await place.mailer.close();
    });
  });
};

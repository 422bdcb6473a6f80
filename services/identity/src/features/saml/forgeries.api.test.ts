import { createIdentityProvider } from '@bindery/testing/saml';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startSaml, type TestSaml } from './login/testing.ts';
import { type Forge, forgeries, inBase64 } from './testing.ts';

const relaxed = createIdentityProvider({ entityID: 'https://relaxed.example.org/metadata' });
let saml: TestSaml;
beforeAll(async () => {
  saml = await startSaml([relaxed.entityID]);
});
afterAll(() => saml.dispose());

describe('forged answers', () => {
  const stranger = createIdentityProvider({ entityID: 'https://stranger.example.org' });
  let page: string;
  let forge: Forge;
  let relayState: string;
  beforeAll(async () => {
    page = await (await saml.post('x', undefined)).text();
    // One request for all of them: what is refused uses nothing up.
    const request = await saml.begin();
    relayState = request.relayState;
    forge = {
      provider: saml.idp,
      stranger,
      metadata: await saml.metadataOf(),
      requestId: request.id,
      now: saml.clock.now(),
    };
  });

  test(`there are enough of them (${forgeries.length})`, () => {
    expect(forgeries.length).toBeGreaterThanOrEqual(70);
    expect(new Set(forgeries.map(({ name }) => name)).size).toBe(forgeries.length);
  });

  test.each(forgeries)('refused: $name', async ({ make, reason }) => {
    const logged: unknown[] = [];
    const answer = await make(forge);
    const { warn } = saml.identity.ports.telemetry.logger;
    Object.assign(saml.identity.ports.telemetry.logger, {
      warn: (_text: string, fields: unknown) => logged.push(fields),
    });
    const response = await saml.post(answer, relayState).catch((error: unknown) => {
      // A body that is cut off may take the connection with it before its answer is read.
      if (reason === 'too-large') return undefined;
      throw error;
    });
    Object.assign(saml.identity.ports.telemetry.logger, { warn });
    if (response !== undefined) {
      expect([response.status, response.headers.getSetCookie(), await response.text()]).toEqual([403, [], page]);
    }
    expect(logged).toEqual([
      { requestId: 'request-1', providerId: saml.providerId, organizationId: saml.organizationId, reason },
    ]);
  });

  test('the genuine one that they are made from is accepted', async () => {
    const { provider, metadata, requestId, now } = forge;
    const answer = inBase64(await provider.answer(metadata, requestId, { now }));
    expect((await saml.post(answer, relayState)).status).toBe(303);
  });
});

describe('a provider that cannot sign responses', () => {
  test('is believed when the operator says so, and no other', async () => {
    const founder = await saml.identity.newUser('Relaxed Founder');
    const organization = await saml.found(founder.token, 'Assertions only');
    const id = await saml.addProvider(organization, founder.token, relaxed, 'read');
    const answered = async (change: (xml: string) => string, signResponse = false): Promise<number> => {
      const request = await saml.begin(id, '', relaxed);
      const now = saml.clock.now();
      const xml = await relaxed.answer(await saml.metadataOf(id), request.id, { signResponse, now });
      return (await saml.post(inBase64(change(xml)), request.relayState, id)).status;
    };
    const assertion = /<saml:Assertion[\s\S]*<\/saml:Assertion>/;
    const forged = (xml: string): string =>
      (assertion.exec(xml)?.[0] ?? '')
        .replaceAll(/<ds:Signature [\s\S]*?<\/ds:Signature>/g, '')
        .replace('ada@', 'victim@')
        .replace(/ID="_[^"]+"/, 'ID="_evil"');
    expect(await answered((xml) => xml)).toBe(303);
    expect(await answered((xml) => xml, true)).toBe(303);
    expect(await answered((xml) => xml.replace('ada@', 'victim@'))).toBe(403);
    expect(await answered((xml) => xml.replace(/<ds:Signature [\s\S]*?<\/ds:Signature>/, ''))).toBe(403);
    expect(await answered((xml) => xml.replace('<saml:Assertion', `${forged(xml)}<saml:Assertion`))).toBe(403);
    expect(await answered((xml) => xml.replace(assertion, forged))).toBe(403);
  });
});

import schemas from '@asyncapi/specs';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import Type from 'typebox';
import { publicEvent } from '../kit/public-event.ts';
import { closed, Id } from '../kit/schema.ts';
import { publicEvents } from '../public-events.ts';
import { buildAsyncApi } from './document.ts';
import { createPublicEventCheck, PublicEventInvalid } from './validate.ts';

test('the document is valid AsyncAPI 3.0', () => {
  const ajv = new Ajv({ strict: false, allErrors: false });
  formats.default(ajv);
  const validate = ajv.compile(Object(schemas.schemasWithoutId['3.0.0']));
  validate(structuredClone(buildAsyncApi({ version: '1.2.3' })));
  expect(validate.errors ?? []).toEqual([]);
});

test('every pointer leads somewhere', () => {
  const document = buildAsyncApi({ version: '1' });
  for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    let part: unknown = document;
    for (const step of pointer.split('/')) part = Object(part)[step];
    expect({ pointer, found: part !== undefined }).toEqual({ pointer, found: true });
  }
});

const made = publicEvent({
  type: 'bindery.content.thing.created.v1',
  owner: 'content',
  summary: 'A thing was created.',
  data: closed({ thingId: Id(), size: Type.Integer() }),
});
const check = createPublicEventCheck(new Map([[made.type, made]]));
const event = {
  specversion: '1.0',
  id: 'e1',
  source: '/services/content',
  type: made.type,
  subject: 't1',
  time: '2026-01-01T00:00:00.000Z',
  datacontenttype: 'application/json',
  dataschema: '/asyncapi.json',
  data: { thingId: 't1', size: 1 },
};

describe('an event that leaves', () => {
  test('fits', () => {
    expect(() => check({ ...event, organizationid: 'o1' })).not.toThrow();
  });
  test.each<[unknown, string]>([
    [{ ...event, data: { thingId: 't1' } }, 'event.data.size: is required'],
    [{ ...event, data: { ...event.data, email: 'x' } }, 'event.data.email: is not a field that is known here'],
    [{ ...event, type: 'bindery.content.nothing.v1' }, 'is not in the catalogue'],
    [{ ...event, source: '/services/identity' }, 'belongs to content'],
    [{ ...event, data: undefined }, 'event.data: '],
    [{ ...event, Extra: 1 }, 'event.Extra: is not a field'],
    ['text', 'event: must be an object'],
  ])('or is refused: %j', (wrong, message) => {
    expect(() => check(wrong)).toThrow(PublicEventInvalid);
    expect(() => check(wrong)).toThrow(message);
  });
});

test('every sample of the catalogue fits its schema', () => {
  const checkAll = createPublicEventCheck(publicEvents);
  for (const { type, owner, samples = [] } of publicEvents.values()) {
    for (const data of samples) checkAll({ ...event, type, source: `/services/${owner}`, data });
  }
});

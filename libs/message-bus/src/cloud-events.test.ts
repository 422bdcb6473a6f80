import { describe, expect, test } from '@jest/globals';
import { HTTP, Kafka, CloudEvent as SdkEvent } from 'cloudevents';
import { fromBinary, InvalidCloudEvent, toBinary } from './cloud-events.ts';
import type { CloudEvent } from './port.ts';

const event: CloudEvent = {
  specversion: '1.0',
  id: '0199f0a4-0000-7000-8000-000000000001',
  source: '/services/content',
  type: 'bindery.content.change-request.merged.v1',
  subject: 'Zk3J',
  time: '2030-01-02T03:04:05.678Z',
  datacontenttype: 'application/json',
  dataschema: 'https://example.org/schema',
  data: { title: 'Übersicht 😀', list: [1, null, { a: '\0' }] },
  organizationid: 'org1',
  correlationid: 'c1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};

/** The attributes as the official library sees them. */
const seenBySdk = (sdk: SdkEvent<unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.keys(event).map((name) => [name, (sdk as unknown as Record<string, unknown>)[name]]));

describe('CloudEvents', () => {
  test('our binary messages are read by the official library', () => {
    const { key, value, headers } = toBinary(event);
    const body = JSON.parse(value.toString('utf8')) as unknown;
    const read = Kafka.toEvent({ value: body, headers, body } as Parameters<typeof Kafka.toEvent>[0]);
    expect(read).toBeInstanceOf(SdkEvent);
    expect(seenBySdk(read as SdkEvent<unknown>)).toEqual(event);
    expect(key).toBe('Zk3J');
  });

  test('messages of the official library are read by us, in both modes', () => {
    const sdk = new SdkEvent({ ...event, partitionkey: 'Zk3J' });
    for (const message of [Kafka.binary(sdk), Kafka.structured(sdk)]) {
      const value = typeof message.value === 'string' ? message.value : JSON.stringify(message.value);
      const read = fromBinary({ key: String(message.key), value, headers: message.headers as Record<string, string> });
      expect(read).toEqual({ ...event, partitionkey: 'Zk3J' });
    }
  });

  test('our events are valid for the official library in structured mode, and back', () => {
    const { headers, body } = HTTP.structured(new SdkEvent({ ...event }));
    expect(fromBinary({ value: String(body), headers: headers as Record<string, string> })).toEqual(event);
  });

  test('there and back, whether headers are texts, bytes or lists', () => {
    const { key, value, headers } = toBinary(event);
    expect(fromBinary({ key, value, headers })).toEqual(event);
    const bytes = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]));
    expect(fromBinary({ key: Buffer.from(key), value, headers: bytes })).toEqual(event);
    const lists = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, [text, 'second']]));
    expect(fromBinary({ key, value, headers: lists })).toEqual(event);
  });

  test('headers are as the Kafka binding wants them', () => {
    const { headers } = toBinary(event);
    expect(headers).toEqual({
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_source: event.source,
      ce_type: event.type,
      ce_subject: event.subject,
      ce_time: event.time,
      ce_dataschema: event.dataschema,
      ce_organizationid: 'org1',
      ce_correlationid: 'c1',
      ce_traceparent: event.traceparent,
      traceparent: event.traceparent,
    });
  });

  test('a message is never empty: absent data is refused when writing and reads as an empty object', () => {
    expect(() => toBinary({ ...event, data: undefined })).toThrow(TypeError);
    expect(toBinary({ ...event, data: null }).value.toString()).toBe('null');
    expect(toBinary({ ...event, data: {} }).value.toString()).toBe('{}');
    const { headers } = toBinary(event);
    for (const value of [null, '', Buffer.alloc(0)]) expect(fromBinary({ value, headers }).data).toEqual({});
  });

  test('attributes that CloudEvents does not allow are refused', () => {
    for (const name of ['organization_id', 'organizationId', 'ö', '']) {
      expect(() => toBinary({ ...event, [name]: 'x' })).toThrow(TypeError);
    }
    expect(() => toBinary({ ...event, attempt: 3 } as CloudEvent)).toThrow(TypeError);
  });

  test('what is no event is refused with the reason', () => {
    const { value, headers } = toBinary(event);
    const structured = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
    const cases: [Parameters<typeof fromBinary>[0], RegExp][] = [
      [{ value, headers: {} }, /specversion is missing/],
      [{ value, headers: { ...headers, ce_id: '' } }, /id is missing/],
      [{ value, headers: { ...headers, ce_specversion: '0.3' } }, /0\.3 is not supported/],
      [{ value: '{', headers }, /data is not JSON/],
      [{ value: '{', headers: structured }, /envelope is not JSON/],
      [{ value: '[]', headers: structured }, /not an object/],
      [{ value: '[]', headers: { 'content-type': 'application/cloudevents-batch+json' } }, /not supported/],
    ];
    for (const [message, reason] of cases) {
      expect(() => fromBinary(message)).toThrow(InvalidCloudEvent);
      expect(() => fromBinary(message)).toThrow(reason);
    }
  });

  test('the key stands in for a missing subject', () => {
    const { value, headers } = toBinary(event);
    const { ce_subject: _subject, ...others } = headers;
    expect(fromBinary({ key: 'k', value, headers: others }).subject).toBe('k');
  });

  test('structured messages with binary data', () => {
    const { data, ...attributes } = event;
    const envelope = JSON.stringify({
      ...attributes,
      data_base64: Buffer.from(JSON.stringify(data)).toString('base64'),
    });
    expect(fromBinary({ value: envelope, headers: { 'Content-Type': 'application/cloudevents+json' } })).toEqual(event);
  });
});

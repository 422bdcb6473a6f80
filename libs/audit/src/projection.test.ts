import type { DomainEvent, Recorded } from '@bindery/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import type { AuditEntryDocument } from './entry.ts';
import { auditProjection } from './projection.ts';

const projection = auditProjection('content', {
  Named: { action: 'thing.named', label: 'Named', facts: (data) => ({ values: { value: Object(data).value } }) },
});

/** The value as the entry of an event tells it. */
const keptOf = async (value: unknown): Promise<unknown> => {
  const event: Recorded<DomainEvent> = {
    ...{ id: '01a22348-fbfc-831d-9af7-bb84b7480994', type: 'Named', stream: 'content.thing-t1', data: { value } },
    ...{ revision: 0, position: 1 },
    metadata: {
      ...{ correlationId: 'c', causationId: 'c', schemaVersion: 1, time: '2026-03-01T12:00:00.000Z' },
      actor: { kind: 'user', id: 'u1' },
    },
  };
  const [entry] = await projection.apply(event, { get: async () => undefined });
  if (entry?.write.kind !== 'put') throw new Error('every event has an entry');
  return (entry.write.document as AuditEntryDocument).after?.value;
};

describe('values in the audit', () => {
  test.each([
    ['the longest text', 'x'.repeat(1998), 'x'.repeat(1998)],
    ['one character more', 'x'.repeat(1999), { omitted: 2001 }],
    ['few characters that are long in JSON', '\u0001'.repeat(334), { omitted: 2006 }],
    ['as many as fit', '\u0001'.repeat(333), '\u0001'.repeat(333)],
    ['a number', 7, 7],
    ['false', false, false],
    ['null', null, null],
    ['a short list', ['a'], ['a']],
    ['a long list', ['x'.repeat(2000)], { omitted: 2004 }],
  ])('%s', async (_, value, kept) => {
    expect(await keptOf(value)).toEqual(kept);
  });
});

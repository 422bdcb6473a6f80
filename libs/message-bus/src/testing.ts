import type { CloudEvent } from './port.ts';

/** An event for tests of the bus, about nothing. @param data what it holds */
export const sampleEvent = (id: string, data: unknown = {}): CloudEvent => ({
  specversion: '1.0',
  id,
  source: '/services/testing',
  type: 'bindery.testing.something.happened.v1',
  subject: id,
  time: '2030-01-02T03:04:05.678Z',
  datacontenttype: 'application/json',
  dataschema: '',
  data,
});

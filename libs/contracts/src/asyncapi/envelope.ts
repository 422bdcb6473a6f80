/** JSON Schemas of the CloudEvents 1.0 envelope: the attributes as message headers, and as members of an event. */

const text = { type: 'string', minLength: 1 };
const attributes = {
  specversion: { type: 'string', const: '1.0' },
  id: { ...text, description: 'Id of the event; the same in every repeat.' },
  source: { ...text, pattern: '^/services/[a-z]+$', description: 'Which service it comes from.' },
  type: { ...text, pattern: '^bindery\\.[a-z0-9.-]+\\.v[0-9]+$', description: 'What happened, with version.' },
  subject: { ...text, description: 'Id of the resource; the key of the message.' },
  time: { type: 'string', format: 'date-time', description: 'When it happened.' },
  dataschema: { type: 'string', format: 'uri-reference', description: 'Where the schema of the data is.' },
  organizationid: { ...text, description: 'Organization it happened in.' },
  traceparent: { type: 'string', pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' },
  correlationid: { ...text, description: 'Shared by everything that one request caused.' },
  sequence: {
    type: 'string',
    pattern: '^[0-9]{16}$',
    description: 'Place in the log of the source; compares as text.',
  },
};
const required = ['specversion', 'id', 'source', 'type', 'subject', 'time', 'dataschema'];

export const envelope = {
  /** The attributes as Kafka headers. */
  headers: {
    type: 'object',
    required: required.map((name) => `ce_${name}`),
    properties: Object.fromEntries(Object.entries(attributes).map(([name, schema]) => [`ce_${name}`, schema])),
  },
  /** A whole event; `data` is checked by the schema of its type. */
  event: {
    type: 'object',
    required: [...required, 'datacontenttype', 'data'],
    properties: { ...attributes, datacontenttype: { const: 'application/json' }, data: { type: 'object' } },
    additionalProperties: false,
  },
} as const;

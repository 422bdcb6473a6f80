import { components } from '../kit/components.ts';
import { copySchema } from '../kit/json-schema.ts';
import type { PublicEventDefinition } from '../kit/public-event.ts';
import { publicEvents } from '../public-events.ts';
import { envelope } from './envelope.ts';

export interface AsyncApiOptions {
  readonly version: string;
  /** Default: the whole catalogue. */
  readonly events?: ReadonlyMap<string, PublicEventDefinition>;
}

/** An AsyncAPI 3.0 document as plain JSON. */
export interface AsyncApiDocument {
  readonly asyncapi: '3.0.0';
  readonly channels: Readonly<Record<string, unknown>>;
  readonly [part: string]: unknown;
}

const introduction = `The public events of a Bindery instance. They are CloudEvents 1.0 in binary mode: the attributes are
headers with the prefix \`ce_\`, the data is the JSON value of the message. The key is the subject, the id of the resource;
events of one resource come in order, at least once, and a repeat has the same \`id\`.`;

/** Builds the catalogue of public events: one channel per service, one message per event type. */
export function buildAsyncApi(options: AsyncApiOptions): AsyncApiDocument {
  const events = [...(options.events ?? publicEvents).values()];
  const owners = [...new Set(events.map(({ owner }) => owner))].sort();
  const messageName = (type: string): string => type.replace(/^bindery\./, '');
  const of = (owner: string) => events.filter((event) => event.owner === owner);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Bindery events',
      version: options.version,
      description: introduction,
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(
      owners.map((owner) => [
        owner,
        {
          address: `bindery.${owner}.v1`,
          description: `Events of the ${owner} service, keyed by the id of the resource.`,
          messages: Object.fromEntries(
            of(owner).map(({ type }) => [messageName(type), { $ref: `#/components/messages/${messageName(type)}` }]),
          ),
        },
      ]),
    ),
    operations: Object.fromEntries(
      owners.map((owner) => [
        `publish-${owner}`,
        {
          action: 'send',
          channel: { $ref: `#/channels/${owner}` },
          summary: `The ${owner} service publishes what happened.`,
          messages: of(owner).map(({ type }) => ({ $ref: `#/channels/${owner}/messages/${messageName(type)}` })),
        },
      ]),
    ),
    components: {
      messages: Object.fromEntries(events.map((event) => [messageName(event.type), message(event)])),
      schemas: {
        CloudEventHeaders: envelope.headers,
        ...usedSchemas(events),
      },
    },
  };
}

function message({ type, summary, description, data, samples }: PublicEventDefinition): Record<string, unknown> {
  return {
    name: type,
    title: summary,
    summary,
    ...(description !== undefined && { description }),
    contentType: 'application/json',
    headers: { $ref: '#/components/schemas/CloudEventHeaders' },
    payload: copySchema(data),
    ...(samples && samples.length > 0 && { examples: samples.map((payload) => ({ payload })) }),
  };
}

function usedSchemas(events: readonly PublicEventDefinition[]): Record<string, unknown> {
  const all = components();
  const used: Record<string, unknown> = {};
  const queue: unknown[] = events.map(({ data }) => copySchema(data));
  for (let part = queue.pop(); part !== undefined; part = queue.pop()) {
    for (const [, name] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      if (name === undefined || used[name] !== undefined) continue;
      used[name] = copySchema(all.get(name) ?? {});
      queue.push(used[name]);
    }
  }
  return used;
}

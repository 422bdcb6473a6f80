import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, listOf, paging, words } from '../kit/schema.ts';

const name = (description: string) => Type.String({ minLength: 1, maxLength: 512, description });
const optional = (description: string) => Type.Optional(name(description));

const since = Type.String({ format: 'date-time', description: 'Since when it waits.' });
const reason = Type.String({ description: 'Why the first one could not be handled.' });
const attempts = Type.Integer({ minimum: 0, description: 'How often the first one was tried.' });

/** A key of a consumer group that waits. */
const ParkedKey = component(
  'ParkedKey',
  closed(
    {
      object: words(['parked-key']),
      service: Type.String({ description: 'Service that the consumer group belongs to.' }),
      group: Type.String({ description: 'Consumer group that could not handle a message.' }),
      topic: Type.String({ description: 'Topic that the messages came from.' }),
      id: Type.String({
        description:
          'Names the key in addresses: the key itself, or `~` and a digest of it where it is empty, longer than 512 characters, or of a form that addresses cannot hold.',
      }),
      key: Type.String({
        description:
          'Key of the messages: the id of what they are about. Messages without one have an empty one, or a zero character and their partition; of a long one the first 512 characters are shown.',
      }),
      since,
      reason,
      attempts,
      letters: Type.Integer({ minimum: 0, description: 'Messages that wait.' }),
      releasing: Type.Boolean({ description: 'A release was asked for and has not come to its end.' }),
    },
    { description: 'Messages of one key that wait because the first of them could not be handled.' },
  ),
);

const DeadLetter = component(
  'DeadLetter',
  closed(
    {
      object: words(['dead-letter']),
      topic: Type.String(),
      partition: Type.Integer({ minimum: 0 }),
      offset: Type.String({ description: 'Place in the partition of the topic.' }),
      parkedAt: DateTime,
      reason: Type.String(),
      attempts: Type.Integer({
        minimum: 0,
        description: 'How often it was tried before it was set aside; 0 for one that only waits behind an earlier one.',
      }),
      bytes: Type.Integer({ minimum: 0, description: 'Size of its content.' }),
      event: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'The public event that it holds (CloudEvents, JSON); absent when it is none of the catalogue.',
        }),
      ),
    },
    { description: 'A message that could not be handled, or waits behind one that could not.' },
  ),
);

const ParkedStream = component(
  'ParkedStream',
  closed(
    {
      object: words(['parked-stream']),
      service: Type.String(),
      reactor: Type.String({ description: 'Process that follows up events of the service.' }),
      stream: Type.String(),
      revision: Type.Integer({ minimum: 0, description: 'Of the event in the stream that could not be followed up.' }),
      since,
      reason,
      attempts,
    },
    { description: 'A stream of events that waits because one of its events could not be followed up.' },
  ),
);

const keyParams = {
  group: name('Consumer group.'),
  topic: name('Topic that the messages came from.'),
  key: name('The `id` of the key, as it is listed.'),
};

const outcome = (free: string) =>
  words([free, 'waiting', 'parked'], {
    description: `\`${free}\`: nothing waits any more. \`waiting\`: it goes on, ask again later. \`parked\`: it failed again.`,
  });

/** Parked keys of all consumer groups. */
export const listParkedKeys = operation({
  id: 'listParkedKeys',
  owner: 'gateway',
  surface: 'admin',
  method: 'GET',
  path: '/parked-keys',
  tag: 'Instance',
  summary: 'List the keys whose messages wait',
  description: 'What consumer groups could not handle, by service, group, topic and key.',
  access: 'instance-admin',
  query: closed({ ...paging, group: optional('Only of this consumer group.'), topic: optional('Only of this topic.') }),
  success: { 200: listOf(ParkedKey) },
  errors: [404],
});

/** The letters of a parked key. */
export const listDeadLetters = operation({
  id: 'listDeadLetters',
  owner: 'gateway',
  surface: 'admin',
  method: 'GET',
  path: '/parked-keys/{group}/{topic}/{key}/letters',
  tag: 'Instance',
  summary: 'List the messages of a key that wait',
  description: 'Oldest first. A page may have fewer than `limit` and still a next one.',
  access: 'instance-admin',
  params: closed(keyParams),
  query: closed({
    page: paging.page,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many items at most.' }),
    ),
  }),
  success: { 200: listOf(DeadLetter) },
});

/** Hands the messages of a key to their consumer again. */
export const releaseParkedKey = operation({
  id: 'releaseParkedKey',
  owner: 'gateway',
  surface: 'admin',
  method: 'POST',
  path: '/parked-keys/{group}/{topic}/{key}/release',
  tag: 'Instance',
  summary: 'Release a key',
  description:
    'Its messages are handled again, in order, and newer ones behind them; when one fails again the key waits from there on. Asking again while it goes on changes nothing. Waits up to five seconds for the outcome; the release goes on without that, also over restarts.',
  access: 'instance-admin',
  params: closed(keyParams),
  success: {
    200: closed({
      object: words(['parked-key-release']),
      state: outcome('released'),
      parked: Type.Optional(ParkedKey),
    }),
  },
});

const whyGivenUp = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '\\S',
  description: 'Why it may be missing. Kept in the audit for ever: no personal data.',
});

/** Gives up one message, so that those behind it go on. */
export const discardDeadLetter = operation({
  id: 'discardDeadLetter',
  owner: 'gateway',
  surface: 'admin',
  method: 'POST',
  path: '/parked-keys/{group}/{topic}/{key}/letters/{offset}/discard',
  tag: 'Instance',
  summary: 'Discard a message of a key',
  description:
    'For a message of which is known that it can never be handled. Only the oldest of a key can be discarded, and not while the key is released. What it says is not done, by nobody; the messages behind it are handled, in order, as after a release, whose outcome this waits for in the same way. Its dead letter is kept, and the reason stands in the audit.',
  access: 'instance-admin',
  params: closed({
    ...keyParams,
    offset: Type.String({
      pattern: '^[0-9]{1,19}$',
      description: 'Place of the message in the partition of the topic.',
    }),
  }),
  body: closed({ reason: whyGivenUp }),
  success: {
    200: closed({
      object: words(['dead-letter-discard']),
      state: outcome('released'),
      parked: Type.Optional(ParkedKey),
    }),
  },
  errors: [409],
});

/** Forgets a key whose messages are gone. */
export const forgetParkedKey = operation({
  id: 'forgetParkedKey',
  owner: 'gateway',
  surface: 'admin',
  method: 'POST',
  path: '/parked-keys/{group}/{topic}/{key}/forget',
  tag: 'Instance',
  summary: 'Forget a key whose messages are gone',
  description:
    'For a key that waits although its dead letters have been removed: no release can end it. What those messages say is not done, by nobody; messages of the key that come from now on are handled again, in order. Refused while a message is left, and while the key is released. Waits for the outcome as a release does, and the reason stands in the audit.',
  access: 'instance-admin',
  params: closed(keyParams),
  body: closed({ reason: whyGivenUp }),
  success: {
    200: closed({
      object: words(['parked-key-forget']),
      state: outcome('forgotten'),
      parked: Type.Optional(ParkedKey),
    }),
  },
  errors: [409],
});

/** Parked streams of all reactors. */
export const listParkedStreams = operation({
  id: 'listParkedStreams',
  owner: 'gateway',
  surface: 'admin',
  method: 'GET',
  path: '/parked-streams',
  tag: 'Instance',
  summary: 'List the streams that wait to be followed up',
  description: 'What processes within the services could not do, by service, reactor and stream.',
  access: 'instance-admin',
  query: closed({
    ...paging,
    service: optional('Only of this service.'),
    reactor: optional('Only of this reactor.'),
  }),
  success: { 200: listOf(ParkedStream) },
  errors: [404],
});

/** Tries a parked stream at once. */
export const retryParkedStream = operation({
  id: 'retryParkedStream',
  owner: 'gateway',
  surface: 'admin',
  method: 'POST',
  path: '/parked-streams/{service}/{reactor}/{stream}/retry',
  tag: 'Instance',
  summary: 'Try a stream again now',
  description:
    'It is tried again by itself with growing pauses; this ends the pause. Waits up to five seconds for the outcome.',
  access: 'instance-admin',
  params: closed({ service: name('Service.'), reactor: name('Reactor.'), stream: name('Stream.') }),
  success: {
    200: closed({
      object: words(['parked-stream-retry']),
      state: outcome('released'),
      parked: Type.Optional(ParkedStream),
    }),
  },
});

/** What an operator sees of what could not be handled, and does about it. */
export const parkedOperations = {
  listParkedKeys,
  listDeadLetters,
  releaseParkedKey,
  discardDeadLetter,
  forgetParkedKey,
  listParkedStreams,
  retryParkedStream,
} as const;

/** Puts into the audit that an administrator has asked for a release; before it is begun. */
export const recordRecovery = operation({
  id: 'recordRecovery',
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/recoveries',
  tag: 'Internal',
  summary: 'An administrator lets something go on that was set aside',
  access: 'service',
  body: closed({
    kind: words(['parked-key', 'parked-stream']),
    service: Type.String(),
    owner: Type.String({ description: 'Consumer group or reactor.' }),
    topic: Type.Optional(Type.String()),
    target: Type.String({ description: 'Key or stream.' }),
    attempts: Type.Integer({ minimum: 0 }),
    discarded: Type.Optional(
      closed({ partition: Type.Integer({ minimum: 0 }), offset: Type.String(), reason: Type.String() }),
    ),
    forgotten: Type.Optional(closed({ letters: Type.Integer({ minimum: 0 }), since: DateTime, reason: Type.String() })),
  }),
  success: { 204: null },
});

/** What identity records of it. */
export const recoveryInternalOperations = { recordRecovery } as const;

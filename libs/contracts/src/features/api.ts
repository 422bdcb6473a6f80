import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, words } from '../kit/schema.ts';

const ApiInformation = component(
  'ApiInformation',
  closed(
    {
      version: Type.String({ description: 'Release of the server.' }),
      build: Type.String({ description: 'What the release was built from: a date or a commit.' }),
    },
    { description: 'Which server this is.' },
  ),
);

const runnerState = {
  position: Type.Integer({ description: 'Position of the last event handled, -1 before the first.' }),
  head: Type.Integer({ description: 'Position of the newest event.' }),
  lag: Type.Integer({ minimum: 0, description: 'Events not handled yet.' }),
  oldestMs: Type.Number({ minimum: 0, description: 'Age of the oldest event not handled yet, in milliseconds.' }),
  error: Type.Optional(Type.String({ description: 'Why it does not go on.' })),
};

const ServiceStatus = component(
  'ServiceStatus',
  closed(
    {
      service: Type.String(),
      events: Type.Integer({ minimum: 0, description: 'Events stored by the service.' }),
      projections: Type.Array(
        closed({
          name: Type.String(),
          ...runnerState,
          state: words(['live', 'catching-up', 'rebuilding', 'failed']),
        }),
      ),
      publisher: Type.Optional(
        closed({ topic: Type.String(), ...runnerState, state: words(['live', 'catching-up', 'failed']) }),
      ),
      reactors: Type.Array(
        closed({
          name: Type.String(),
          ...runnerState,
          state: words(['live', 'catching-up', 'failed']),
          parked: Type.Integer({
            minimum: 0,
            description: 'Streams put aside; the list of parked streams names them.',
          }),
        }),
        { description: 'What finishes and follows up what was begun.' },
      ),
    },
    { description: 'What one service has stored and how far its readers are.' },
  ),
);

const InstanceStatus = component(
  'InstanceStatus',
  closed(
    {
      object: words(['instance-status']),
      version: Type.String(),
      profile: words(['embedded', 'distributed']),
      startedAt: Type.String({ format: 'date-time' }),
      ready: Type.Boolean(),
      services: Type.Array(ServiceStatus),
    },
    { description: 'Health of the whole instance, for its operators.' },
  ),
);

const Names = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100, uniqueItems: true, description }),
  );

/** What the gateway answers by itself. */
export const apiOperations = {
  getApiInformation: operation({
    id: 'getApiInformation',
    owner: 'gateway',
    surface: 'public',
    method: 'GET',
    path: '/',
    tag: 'API',
    summary: 'Get the version of the API',
    access: 'anonymous',
    success: { 200: ApiInformation },
  }),
  getInstanceStatus: operation({
    id: 'getInstanceStatus',
    owner: 'gateway',
    surface: 'admin',
    method: 'GET',
    path: '/status',
    tag: 'Instance',
    summary: 'Get the status of the instance',
    description:
      'Version, profile and, per service, events stored, projections, reactors and publisher with position and lag.',
    access: 'instance-admin',
    success: { 200: InstanceStatus },
  }),
  rebuildProjections: operation({
    id: 'rebuildProjections',
    owner: 'gateway',
    surface: 'admin',
    method: 'POST',
    path: '/projections/rebuild',
    tag: 'Instance',
    summary: 'Rebuild projections from the events',
    description:
      'Replays the events into new read models beside the live ones and switches when they are complete. Answers when it is done.',
    access: 'instance-admin',
    deadlineMs: 600_000,
    body: closed({
      services: Names('Only these services; all of them when absent.'),
      projections: Names('Only these projections; all of them when absent.'),
    }),
    bodyOptional: true,
    success: {
      200: closed({
        services: Type.Array(
          closed({
            service: Type.String(),
            events: Type.Integer({ minimum: 0 }),
            durationMs: Type.Number({ minimum: 0 }),
          }),
        ),
      }),
    },
    errors: [409],
  }),
};

import { describe, expect, test } from '@jest/globals';
import { type Answer, type Ask, warningsIn } from './api-server.ts';
import { clusterOf, lost, nextRelease, podsOf } from './cluster.ts';
import { admitted, applied, appliedAgain } from './cluster-check.ts';
import { accepted, controls } from './controls.ts';
import { parseManifests } from './manifests.ts';

const sound = parseManifests(accepted());
const deployment = sound.find(({ kind }) => kind === 'Deployment');
if (!deployment) throw new Error('the fixture has no Deployment');

const lists: Readonly<Record<string, unknown>> = {
  '/apis/apps/v1': {
    resources: [
      { name: 'deployments/scale', kind: 'Deployment', namespaced: true },
      { name: 'deployments', kind: 'Deployment', namespaced: true },
    ],
  },
  '/api/v1': { resources: [{ name: 'pods', kind: 'Pod', namespaced: true }] },
};

/** A server that answers changes as it is told, and the calls that it had. */
const serverThat = (answer: (body: object, calls: number) => Partial<Answer>): { ask: Ask; calls: string[] } => {
  const calls: string[] = [];
  const ask: Ask = async (method, path, body) => {
    const list = lists[path];
    if (method === 'GET') return { status: list ? 200 : 404, body: list, warnings: [] };
    calls.push(`${method} ${path}`);
    return { status: 200, warnings: [], body: {}, ...answer(body as object, calls.length) };
  };
  return { ask, calls };
};
const stored = (body: object, resourceVersion = '1'): object => ({ ...body, metadata: { name: 'x', resourceVersion } });

describe('applying', () => {
  test('is a server-side apply at the place of the kind, with unknown fields refused', async () => {
    const { ask, calls } = serverThat((body) => ({ body: body }));
    expect(await applied(clusterOf(ask), [deployment])).toEqual([]);
    expect(calls).toEqual([
      'PATCH /apis/apps/v1/namespaces/controls/deployments/gateway?fieldManager=deploy-check&fieldValidation=Strict',
    ]);
  });

  test('refusals and warnings are problems', async () => {
    const { ask } = serverThat(() => ({ status: 422, body: { message: 'field is immutable' }, warnings: ['old'] }));
    expect(await applied(clusterOf(ask), [deployment])).toEqual([
      'Deployment gateway: refused: field is immutable',
      'Deployment gateway: warned: old',
    ]);
  });

  test('a warning alone is a problem', async () => {
    const { ask } = serverThat((body) => ({ body, warnings: ['would violate PodSecurity'] }));
    expect(await applied(clusterOf(ask), [deployment])).toEqual([
      'Deployment gateway: warned: would violate PodSecurity',
    ]);
  });

  test('what a server leaves out is a problem', async () => {
    const { ask } = serverThat((body) => ({ body: { ...body, spec: undefined } }));
    expect(await applied(clusterOf(ask), [deployment])).toEqual(['Deployment gateway: the server left out spec']);
  });

  test('a change by applying again is a problem', async () => {
    const still = serverThat((body) => ({ body: stored(body) }));
    expect(await appliedAgain(clusterOf(still.ask), [deployment])).toEqual([]);
    const moving = serverThat((body, calls) => ({ body: stored(body, String(calls)) }));
    expect(await appliedAgain(clusterOf(moving.ask), [deployment])).toEqual([
      'Deployment gateway: changed by being applied again',
    ]);
  });

  test('a kind that is not served ends it', async () => {
    const { ask } = serverThat(() => ({}));
    const route = sound.filter(({ kind }) => kind === 'HTTPRoute');
    await expect(applied(clusterOf(ask), route)).rejects.toThrow('HTTPRoute of gateway.networking.k8s.io/v1');
  });
});

test('pods are asked for without being kept, and a refused one is a problem', async () => {
  const { ask, calls } = serverThat(() => ({ status: 403, body: { message: 'violates PodSecurity' } }));
  expect(await admitted(clusterOf(ask), [deployment])).toEqual(['Pod of gateway: refused: violates PodSecurity']);
  expect(calls).toEqual(['POST /api/v1/namespaces/controls/pods?dryRun=All&fieldValidation=Strict']);
  expect(await admitted(clusterOf(ask), [])).toEqual(['there is no pod to admit']);
});

test('a namespace is deleted by ending what its controller would end', async () => {
  const { ask, calls } = serverThat(() => ({}));
  const serving: Ask = async (method, path, body) =>
    path === '/api/v1'
      ? {
          status: 200,
          warnings: [],
          body: { resources: [{ name: 'namespaces', kind: 'Namespace', namespaced: false }] },
        }
      : await ask(method, path, body);
  const namespaces = sound.filter(({ kind }) => kind === 'Namespace');
  for (const namespace of namespaces) expect((await clusterOf(serving).remove(namespace)).problems).toEqual([]);
  expect(calls).toEqual(['DELETE /api/v1/namespaces/controls', 'PUT /api/v1/namespaces/controls/finalize']);
});

test('a pod has what its template has, and the volumes of claims', () => {
  const [gateway, mongodb] = podsOf(sound);
  expect(gateway?.metadata).toEqual({ generateName: 'gateway-', namespace: 'controls', labels: { app: 'gateway' } });
  expect(mongodb?.spec?.volumes).toEqual([{ name: 'data', persistentVolumeClaim: { claimName: 'data-mongodb-0' } }]);
  const template = { spec: { containers: [] } };
  const job = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly' },
    spec: { jobTemplate: { spec: { template } } },
  };
  expect(podsOf([job]).map(({ metadata }) => metadata.generateName)).toEqual(['nightly-']);
});

test('the next release has other images and nothing else', () => {
  const images = (text: string): readonly string[] =>
    [...text.matchAll(/"image":"([^"]*)"/g)].map(([, name = '']) => name);
  expect(images(JSON.stringify(nextRelease(sound)))).toEqual(['bindery/gateway:99.0.0', 'mongo:99.0.0']);
  const without = (text: string): string => text.replaceAll(/"image":"[^"]*"/g, '');
  expect(without(JSON.stringify(nextRelease(sound)))).toBe(without(JSON.stringify(sound)));
});

describe('lost fields', () => {
  test.each([
    ['what is there', { a: { b: 1 } }, { a: { b: 1, c: 2 } }, []],
    ['one that is gone', { a: { b: 1, c: 2 } }, { a: { b: 1 } }, ['a.c']],
    ['one that changed', { a: ['x', 'y'] }, { a: ['x', 'z'] }, ['a.1']],
    ['a shorter list', { a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 1 }] }, ['a.1']],
    ['a quantity in other words', { cpu: '0.5', memory: '1Gi' }, { cpu: '500m', memory: '1024Mi' }, []],
    ['base64 in lines', { data: 'aGVs\nbG8=\n' }, { data: 'aGVsbG8=' }, []],
    ['text with other spaces', { data: 'a: b' }, { data: 'a:b' }, ['data']],
    ['another quantity', { cpu: '0.5' }, { cpu: '5' }, ['cpu']],
    ['nothing, said', { a: [], b: {}, c: null }, {}, []],
    ['a whole part', { a: { b: 1 } }, {}, ['a']],
    ['false', { a: false }, { a: true }, ['a']],
  ] as const)('%s', (_title, before, after, paths) => {
    expect(lost(before, after)).toEqual(paths);
  });
});

test('warnings are read as the API server writes them', () => {
  expect(warningsIn(['299 - "one \\"quoted\\" thing"', '299 - "two", 299 - "three"'])).toEqual([
    'one "quoted" thing',
    'two',
    'three',
  ]);
  expect(warningsIn([])).toEqual([]);
});

test.each(controls)('the control "$title" changes the sound manifests', ({ from, to }) => {
  expect(accepted().replace(from, to)).not.toBe(accepted());
});

import type { ReceivedSpan } from './otlp-receiver.ts';

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

/** A span that a trace must have, and what must be below it, at any depth. */
export interface ExpectedSpan {
  readonly name: string;
  readonly kind: keyof typeof kinds;
  /** `service.name` of the process. */
  readonly service?: string;
  /** Among its attributes, as text. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Whether it is linked to its parent as well. */
  readonly linked?: boolean;
  readonly below?: readonly ExpectedSpan[];
}

/** Value of an attribute as text; undefined when the span has none of this name. */
export const attributeOf = (span: ReceivedSpan, name: string): string | undefined => {
  const value = span.attributes.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : String(Object.values(value)[0]);
};

const childrenOf = (spans: readonly ReceivedSpan[], parent: string | undefined): readonly ReceivedSpan[] =>
  spans.filter(({ parentSpanId }) => (parentSpanId ?? '') === (parent ?? ''));

const descendantsOf = (spans: readonly ReceivedSpan[], span: ReceivedSpan): readonly ReceivedSpan[] =>
  childrenOf(spans, span.spanId).flatMap((child) => [child, ...descendantsOf(spans, child)]);

const isSelf = (span: ReceivedSpan, expected: ExpectedSpan): boolean =>
  span.name === expected.name &&
  span.kind === kinds[expected.kind] &&
  (expected.service === undefined || span.service === expected.service) &&
  (expected.linked !== true || (span.links ?? []).some(({ spanId }) => spanId === span.parentSpanId)) &&
  Object.entries(expected.attributes ?? {}).every(([name, value]) => attributeOf(span, name) === value);

/** The first expectation below `span` that nothing fulfils, as a path of names; undefined when all are. */
const missingBelow = (
  spans: readonly ReceivedSpan[],
  span: ReceivedSpan,
  expected: ExpectedSpan,
): string | undefined => {
  const candidates = descendantsOf(spans, span);
  for (const wanted of expected.below ?? []) {
    const found = candidates.filter((candidate) => isSelf(candidate, wanted));
    const misses = found.map((candidate) => missingBelow(spans, candidate, wanted));
    if (found.length === 0) return `${expected.name} > ${wanted.name} (${wanted.kind})`;
    if (!misses.includes(undefined)) return `${expected.name} > ${misses[0]}`;
  }
  return undefined;
};

/** The trace as text, one span a line, indented by depth. */
export const drawTrace = (spans: readonly ReceivedSpan[]): string => {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const kindOf = (kind: number): string => Object.entries(kinds).find(([, value]) => value === kind)?.[0] ?? '?';
  const draw = (span: ReceivedSpan, depth: number): string[] => {
    const ms = (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6;
    const links = (span.links ?? []).length > 0 ? ' +link' : '';
    const line = `${'  '.repeat(depth)}${span.name} [${span.service}, ${kindOf(span.kind)}${links}] ${ms.toFixed(1)} ms`;
    const below = [...childrenOf(spans, span.spanId)].sort(
      (a, b) => Number(a.startTimeUnixNano) - Number(b.startTimeUnixNano),
    );
    return [line, ...below.flatMap((child) => draw(child, depth + 1))];
  };
  return spans
    .filter(({ parentSpanId }) => !known.has(parentSpanId ?? ''))
    .flatMap((span) => draw(span, 0))
    .join('\n');
};

/**
 * Checks that the spans of one trace are one connected tree that has what is expected.
 * @returns what is wrong, with the trace drawn; undefined when nothing is
 */
export const treeProblem = (
  spans: readonly ReceivedSpan[],
  traceId: string,
  expected: ExpectedSpan,
): string | undefined => {
  const trace = spans.filter((span) => span.traceId === traceId);
  const known = new Set(trace.map(({ spanId }) => spanId));
  const roots = trace.filter(({ parentSpanId }) => !known.has(parentSpanId ?? ''));
  const [root] = roots;
  const told = (what: string): string => `${what} in trace ${traceId}:\n${drawTrace(trace)}`;
  if (root === undefined) return told('no span');
  if (roots.length > 1) return told(`${roots.length} separate parts instead of one tree`);
  if (!isSelf(root, expected)) return told(`the root is not ${expected.name} (${expected.kind})`);
  const missing = missingBelow(trace, root, expected);
  if (missing !== undefined) return told(`missing: ${missing}`);
  const failed = trace.filter(({ status }) => status?.code === 2).map(({ name }) => name);
  return failed.length > 0 ? told(`failed: ${failed.join(', ')}`) : undefined;
};

/** The same as an assertion. @throws Error with the trace drawn */
export const assertTree = (spans: readonly ReceivedSpan[], traceId: string, expected: ExpectedSpan): void => {
  const problem = treeProblem(spans, traceId, expected);
  if (problem !== undefined) throw new Error(problem);
};

/** One write through the gateway and all that follows from it. */
interface WriteTrace {
  readonly method: string;
  /** As the contract has it, with prefix: `/v1/orgs`. */
  readonly route: string;
  readonly operation: string;
  /** `service.name` of each process. */
  readonly gateway: string;
  readonly owner: string;
  readonly consumer: string;
  /** Aggregate that is appended to: `identity.organization`. */
  readonly aggregate: string;
  readonly topic: string;
  readonly group: string;
  /** `db.system.name` of event store and read store, `messaging.system` of the bus. */
  readonly eventStore: string;
  readonly readStore: string;
  readonly bus: string;
}

/** The tree of a write: request, call, command, append, own documents, publish, and the consumer's work elsewhere. */
const writeTree = (write: WriteTrace): ExpectedSpan => {
  const { method, route, operation, gateway, owner, consumer, aggregate, topic, group } = write;
  const call = '/internal/operations/{operation}';
  const event = { 'messaging.system': write.bus, 'messaging.destination.name': topic };
  const consumed: ExpectedSpan = {
    name: `process ${topic}`,
    kind: 'consumer',
    service: consumer,
    linked: true,
    attributes: { ...event, 'messaging.operation.type': 'process', 'messaging.consumer.group.name': group },
  };
  const published: ExpectedSpan = {
    name: `publish ${topic}`,
    kind: 'producer',
    service: owner,
    linked: true,
    attributes: { ...event, 'messaging.operation.type': 'send' },
    below: [consumed],
  };
  const appended: ExpectedSpan = {
    name: `append ${aggregate}`,
    kind: 'client',
    service: owner,
    attributes: {
      'db.system.name': write.eventStore,
      'db.operation.name': 'append',
      'db.collection.name': aggregate,
    },
  };
  const documents: ExpectedSpan = {
    name: `project ${aggregate}`,
    kind: 'internal',
    service: owner,
  };
  const command: ExpectedSpan = {
    name: `handle ${aggregate}`,
    kind: 'internal',
    service: owner,
    below: [appended, documents, published],
  };
  const served: ExpectedSpan = {
    name: operation,
    kind: 'server',
    service: owner,
    attributes: { 'bindery.operation': operation },
    below: [command],
  };
  const called: ExpectedSpan = {
    name: `POST ${call}`,
    kind: 'client',
    service: gateway,
    attributes: { 'bindery.operation': operation, 'url.template': call, 'http.response.status_code': '200' },
    below: [served],
  };
  return {
    name: `${method} ${route}`,
    kind: 'server',
    service: gateway,
    attributes: { 'http.request.method': method, 'http.route': route, 'bindery.operation': operation },
    below: [called],
  };
};

/** The tree of `POST /v1/orgs`, which the content service consumes, on given engines. */
export const organizationTree = (engines: Pick<WriteTrace, 'eventStore' | 'readStore' | 'bus'>): ExpectedSpan =>
  writeTree({
    method: 'POST',
    route: '/v1/orgs',
    operation: 'createOrganization',
    gateway: 'gateway',
    owner: 'identity',
    consumer: 'content',
    aggregate: 'identity.organization',
    topic: 'bindery.identity.v1',
    group: 'content-grants',
    ...engines,
  });

import type { RecordedEvent } from '@bindery/event-store';
import type { AggregateDefinition, DomainCommand, DomainEvent, Recorded, Upcaster } from './decider.ts';

type Upcasters = Readonly<Record<string, readonly Upcaster[]>>;

/** Aggregate name of a stream. */
export const aggregateOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/** What a service's aggregates are called and how their older events are read. */
export class Aggregates {
  readonly #service: string;
  readonly #upcasters = new Map<string, Upcasters>();

  constructor(service: string) {
    this.#service = service;
  }

  /** @throws TypeError for a name that would not give stream names that can be taken apart, or another service's */
  register<S, C extends DomainCommand, E extends DomainEvent>(definition: AggregateDefinition<S, C, E>): void {
    const { name } = definition;
    if (!name.startsWith(`${this.#service}.`) || !/^[a-z]+\.[A-Za-z0-9_]+$/.test(name))
      throw new TypeError(`aggregate ${name}: expected ${this.#service}.<name> without hyphens`);
    this.#upcasters.set(name, definition.upcasters ?? {});
  }

  /** Version that new events of a type are written with. */
  schemaVersion(aggregate: string, type: string): number {
    return 1 + upcastersOf(this.#upcasters.get(aggregate), type).length;
  }

  /** The event in its type's newest version; one of a newer version than this binary knows stays as it is. */
  read(event: RecordedEvent): Recorded<DomainEvent> {
    const upcasters = upcastersOf(this.#upcasters.get(aggregateOf(event.stream)), event.type);
    const { schemaVersion } = event.metadata;
    if (schemaVersion > upcasters.length) return event;
    const data = upcasters.slice(schemaVersion - 1).reduce((older, upcast) => upcast(older), event.data);
    return { ...event, data, metadata: { ...event.metadata, schemaVersion: upcasters.length + 1 } };
  }
}

const none: readonly Upcaster[] = [];
const upcastersOf = (upcasters: Upcasters | undefined, type: string): readonly Upcaster[] =>
  upcasters !== undefined && Object.hasOwn(upcasters, type) ? (upcasters[type] ?? none) : none;

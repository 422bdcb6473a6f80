import { Counter, type Histogram, type Registry } from 'prom-client';
import type { Labels } from './port.ts';

/** One step on the way to what is kept under some values. */
interface Node<T> {
  readonly next: Map<string | undefined, Node<T>>;
  held: { readonly labels: Labels; readonly figures: T } | undefined;
}

/**
 * Figures for each combination of values of some labels, found by the values one after the other: every request counts several
 * times, and a text of all its labels is worth more than the counting. As many as there are combinations, which the labels keep few.
 */
class Figures<T> {
  readonly #names: readonly string[];
  readonly #make: () => T;
  readonly #root: Node<T> = { next: new Map(), held: undefined };
  readonly all: { readonly labels: Labels; readonly figures: T }[] = [];

  constructor(names: readonly string[], make: () => T) {
    this.#names = names;
    this.#make = make;
    if (names.length === 0) this.of({});
  }

  /** @throws Error for a label that was not declared, when it comes with values that are new */
  of(labels: Labels): T {
    let node = this.#root;
    for (const name of this.#names) {
      const value = labels[name];
      let next = node.next.get(value);
      if (next === undefined) {
        next = { next: new Map(), held: undefined };
        node.next.set(value, next);
      }
      node = next;
    }
    return (node.held ?? this.#begin(node, labels)).figures;
  }

  #begin(node: Node<T>, labels: Labels): NonNullable<Node<T>['held']> {
    const unknown = Object.keys(labels).find((name) => !this.#names.includes(name));
    if (unknown !== undefined) throw new Error(`metrics: the label ${unknown} was not declared`);
    node.held = { labels: { ...labels }, figures: this.#make() };
    this.all.push(node.held);
    return node.held;
  }
}

/** A counter that is told to the registry when somebody looks. @returns adds to it */
export const registerCounter = (
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
): ((by: number, labels: Labels) => void) => {
  const figures = new Figures(labelNames, () => ({ value: 0 }));
  new Counter({
    ...{ name, help, labelNames: [...labelNames], registers: [registry] },
    collect() {
      this.reset();
      for (const one of figures.all) this.inc(one.labels, one.figures.value);
    },
  });
  return (by, labels) => {
    if (!Number.isFinite(by) || by < 0) throw new RangeError(`metrics: ${name} cannot grow by ${by}`);
    figures.of(labels).value += by;
  };
};

/** A histogram that the registry asks when somebody looks. @returns records a value */
export const registerHistogram = (
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  bounds: readonly number[],
): ((value: number, labels: Labels) => void) => {
  const figures = new Figures(labelNames, () => ({ sum: 0, count: 0, buckets: bounds.map(() => 0) }));
  const get = async (): Promise<unknown> => ({
    ...{ name, help, type: 'histogram', aggregator: 'sum' },
    values: figures.all.flatMap(({ labels: sharedLabels, figures: { sum, count, buckets } }) => {
      let below = 0;
      const upTo = bounds.map((le, index) => {
        below += buckets[index] ?? 0;
        return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: below };
      });
      return [
        ...upTo,
        { metricName: `${name}_bucket`, labels: { le: '+Inf' }, sharedLabels, value: count },
        { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum },
        { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
      ];
    }),
  });
  // What the registry needs of one; the library's own makes texts of the labels and looks up a bucket by name at each value.
  registry.registerMetric({ name, help, type: 'histogram', get } as unknown as Histogram);
  return (value, labels) => {
    if (!Number.isFinite(value)) throw new TypeError(`metrics: ${name} does not take ${value}`);
    const own = figures.of(labels);
    own.sum += value;
    own.count += 1;
    // The first that it does not exceed; what exceeds all is in the count alone.
    for (let index = 0; index < bounds.length; index += 1) {
      if (value > (bounds[index] ?? 0)) continue;
      own.buckets[index] = (own.buckets[index] ?? 0) + 1;
      return;
    }
  };
};

import type { Cluster } from '@bindery/testing/cluster';
import { call, must, type Outcome } from './api.ts';

/** One write and what its sender knows of it (PITFALLS 62). */
export interface Write {
  readonly space: string;
  readonly subject: string;
  readonly outcome: 'ok' | 'failed' | 'unknown';
  readonly status: number;
  readonly retryAfter: string | null;
  /** When it was sent, by the monotonic clock, and how long the answer took, in ms. */
  readonly at: number;
  readonly ms: number;
  /** What was said instead of success. */
  readonly reason?: string;
  readonly id?: string;
  readonly number?: number;
}

export interface Read {
  readonly status: number;
  readonly at: number;
  readonly ms: number;
  readonly reason?: string;
}

const readOf = ({ status, at, ms, body }: Outcome & { readonly at: number }): Read => ({
  ...{ status, at, ms },
  ...(status === 200 ? {} : { reason: JSON.stringify(body ?? null).slice(0, 300) }),
});

interface ChangeRequest {
  readonly id: string;
  readonly number: number;
  readonly subject: string;
}

/** Writers and readers that use both gateways while something happens to the instance. */
export class Load {
  readonly writes: Write[] = [];
  readonly reads: Read[] = [];
  /** Writes that were acknowledged and that the other gateway did not know right afterwards. */
  readonly stale: string[] = [];
  readonly #cluster: Cluster;
  readonly #spaces: readonly string[];
  /** Gateways that a load balancer would send to. */
  #serving: readonly string[];
  #stopped = false;
  #serial = 0;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(cluster: Cluster, spaces: readonly string[]) {
    this.#cluster = cluster;
    this.#spaces = spaces;
    this.#serving = cluster.gateways.map(({ url }) => url);
  }

  /** Makes spaces of its own and begins. */
  static async start(
    cluster: Cluster,
    options: { readonly writers?: number; readonly readers?: number } = {},
  ): Promise<Load> {
    const url = cluster.gateways[0]?.url ?? '';
    const { items } = await must<{ items: { id: string }[] }>(cluster, url, 'GET', '/v1/orgs');
    const spaces: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const body = { title: `Load ${index}` };
      spaces.push((await must<{ id: string }>(cluster, url, 'POST', `/v1/orgs/${items[0]?.id}/spaces`, body)).id);
    }
    const load = new Load(cluster, spaces);
    const { writers = 4, readers = 2 } = options;
    load.#running = Promise.all([
      ...Array.from({ length: writers }, (_, index) => load.#write(index)),
      ...Array.from({ length: readers }, (_, index) => load.#read(index)),
      load.#watch(),
    ]);
    return load;
  }

  /** Ends after what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** What was sent between two moments of the monotonic clock. */
  between(from: number, to: number): { readonly writes: readonly Write[]; readonly reads: readonly Read[] } {
    const within = ({ at }: { readonly at: number }): boolean => at >= from && at < to;
    return { writes: this.writes.filter(within), reads: this.reads.filter(within) };
  }

  /** Through a gateway, or the next one where it refuses connections, as a load balancer in front of them does. */
  async #send(
    gateway: number,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Outcome & { readonly at: number }> {
    const at = performance.now();
    const options = body === undefined ? {} : { body };
    const answer = await call(this.#cluster, this.#gateway(gateway), method, path, options);
    if (answer.status !== 0 || !String(answer.body).includes('ECONNREFUSED')) return { ...answer, at };
    return { ...(await call(this.#cluster, this.#gateway(gateway + 1), method, path, options)), at };
  }

  #gateway(index: number): string {
    return this.#serving[index % this.#serving.length] ?? '';
  }

  /** Looks all the time which gateways say that they can serve, as a load balancer does; without any it tries them all. */
  async #watch(): Promise<void> {
    const { gateways } = this.#cluster;
    const all = gateways.map(({ url }) => url);
    while (!this.#stopped) {
      const ready = await Promise.all(gateways.map((one) => one.ready()));
      const serving = all.filter((_, index) => ready[index]);
      this.#serving = serving.length > 0 ? serving : all;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    this.#serving = all;
  }

  async #write(writer: number): Promise<void> {
    for (let turn = writer; !this.#stopped; turn += 1) {
      this.#serial += 1;
      const space = this.#spaces[this.#serial % this.#spaces.length] ?? '';
      const subject = `w${writer}-${this.#serial}`;
      const path = `/v1/spaces/${space}/change-requests`;
      const { status, ms, retryAfter, body, at } = await this.#send(turn, 'POST', path, { subject });
      const outcome = status === 201 ? 'ok' : status >= 400 && status < 500 ? 'failed' : 'unknown';
      const { id, number }: Partial<ChangeRequest> = Object(body);
      this.writes.push({
        ...{ space, subject, outcome, status, retryAfter, at, ms },
        ...(outcome === 'ok' ? {} : { reason: JSON.stringify(body ?? null).slice(0, 300) }),
        ...(outcome === 'ok' && id !== undefined && number !== undefined ? { id, number } : {}),
      });
      if (outcome !== 'ok') await new Promise((resolve) => setTimeout(resolve, 50));
      else {
        const seen = await this.#send(turn + 1, 'GET', `${path}/${id}`);
        this.reads.push(readOf(seen));
        if (seen.status === 404) this.stale.push(subject);
      }
    }
  }

  async #read(reader: number): Promise<void> {
    for (let turn = reader; !this.#stopped; turn += 1) {
      const space = this.#spaces[turn % this.#spaces.length];
      const answer = await this.#send(turn, 'GET', `/v1/spaces/${space}`);
      this.reads.push(readOf(answer));
      await new Promise((resolve) => setTimeout(resolve, answer.status === 200 ? 10 : 50));
    }
  }

  /** Everything that is there afterwards, through one gateway. */
  async #stored(gateway: number, space: string): Promise<readonly ChangeRequest[]> {
    const found: ChangeRequest[] = [];
    let page = '';
    for (;;) {
      const path = `/v1/spaces/${space}/change-requests?limit=100${page}`;
      const answer = await must<{ items: ChangeRequest[]; next?: { page: string } }>(
        this.#cluster,
        this.#gateway(gateway),
        'GET',
        path,
      );
      found.push(...answer.items);
      if (answer.next === undefined) return found;
      page = `&page=${encodeURIComponent(answer.next.page)}`;
    }
  }

  /** What is wrong: acknowledged writes that are missing, writes that are there twice, refused ones that are there, gaps. */
  async wrong(): Promise<readonly string[]> {
    const wrong: string[] = this.stale.map((subject) => `${subject}: the other gateway did not know it`);
    for (const space of this.#spaces)
      for (const gateway of [0, 1]) {
        const stored = await this.#stored(gateway, space);
        const bySubject = Map.groupBy(stored, ({ subject }) => subject);
        for (const write of this.writes.filter((one) => one.space === space)) {
          const there = bySubject.get(write.subject) ?? [];
          if (there.length > 1) wrong.push(`${write.subject}: is there ${there.length} times`);
          if (write.outcome === 'failed' && there.length > 0) wrong.push(`${write.subject}: was refused, and is there`);
          if (write.outcome !== 'ok') continue;
          if (there.length === 0) wrong.push(`${write.subject}: was acknowledged, and is not there`);
          else if (there[0]?.id !== write.id || there[0]?.number !== write.number)
            wrong.push(`${write.subject}: is another one than was acknowledged`);
        }
        const numbers = stored.map(({ number }) => number).sort((a, b) => a - b);
        if (numbers.some((number, index) => number !== index + 1)) wrong.push(`${space}: numbers have gaps`);
      }
    return wrong;
  }
}

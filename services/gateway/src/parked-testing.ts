import type { ParkedWork, WaitingKey, WaitingStream } from '@bindery/service-kit';

/** Since when everything waits. */
export const since = '2026-03-01T12:00:00.000Z';
/** A key that waits. */
export const key = (group: string, topic: string, name: string): WaitingKey => ({
  ...{ group, topic, key: name, reason: 'no', attempts: 5, since, letters: 2, releasing: false },
});
/** A stream that waits. */
export const stream = (reactor: string, name: string): WaitingStream => ({
  ...{ reactor, stream: name, reason: 'no', attempts: 5, since, revision: 3 },
});

/** What waits in a service, in memory. */
export class FakeWork implements ParkedWork {
  readonly groups: readonly string[];
  waiting: WaitingKey[] = [];
  streaming: WaitingStream[] = [];
  releases: string[] = [];
  discards: string[] = [];
  forgets: string[] = [];
  /** Letters of each key. */
  count = 4;
  /** Pages before them on which there are only letters of others. */
  empty = 0;
  /** How long each of them may take, in ms. */
  waits: number[] = [];
  outcome: WaitingKey | null = null;
  streamOutcome: WaitingStream | null = null;

  constructor(...groups: string[]) {
    this.groups = groups;
  }

  keys: ParkedWork['keys'] = async ({ group, topic, key: name, after, limit }) => {
    const place = (one: { group: string; topic: string; key: string }) => `${one.group} ${one.topic} ${one.key}`;
    const keys = this.waiting
      .filter((one) => (group ?? one.group) === one.group && (topic ?? one.topic) === one.topic)
      .filter((one) => (name ?? one.key) === one.key && (after === undefined || place(one) > place(after)));
    return { groups: this.groups, keys: keys.slice(0, limit) };
  };

  letters: ParkedWork['letters'] = async ({ after, limit }) => {
    const all = [0, 1, 2, 3].slice(0, this.count).map((n) => ({
      ...{ partition: 1, offset: String(n), reason: 'no', attempts: n === 0 ? 5 : 0, parkedAt: since, bytes: 10 },
      ...(n === 0 ? {} : { event: { id: `e${n}`, data: { n } } }),
    }));
    const [, pages] = /^empty (\d+)$/.exec(after ?? 'empty 0') ?? [];
    if (pages !== undefined && Number(pages) < this.empty) return { letters: [], next: `empty ${Number(pages) + 1}` };
    const from = pages === undefined ? Number(after) : 0;
    return {
      letters: all.slice(from, from + limit),
      ...(from + limit < this.count ? { next: String(from + limit) } : {}),
    };
  };

  release: ParkedWork['release'] = async (id) => {
    this.releases.push(`${id.group} ${id.topic} ${id.key}`);
    this.waits.push(id.waitMs);
    return this.outcome;
  };

  discard: ParkedWork['discard'] = async (id) => {
    this.discards.push(`${id.group} ${id.topic} ${id.key} ${id.offset}`);
    this.waits.push(id.waitMs);
    return this.outcome;
  };

  forget: ParkedWork['forget'] = async (id) => {
    this.forgets.push(`${id.group} ${id.topic} ${id.key}`);
    this.waits.push(id.waitMs);
    return this.outcome;
  };

  streams: ParkedWork['streams'] = async ({ reactor, stream: name, after, limit }) =>
    this.streaming
      .filter((one) => (reactor ?? one.reactor) === one.reactor && (name ?? one.stream) === one.stream)
      .filter((one) => after === undefined || `${one.reactor} ${one.stream}` > `${after.reactor} ${after.stream}`)
      .slice(0, limit);

  retry: ParkedWork['retry'] = async (id) => {
    this.releases.push(`${id.reactor} ${id.stream}`);
    this.waits.push(id.waitMs);
    return this.streamOutcome;
  };
}

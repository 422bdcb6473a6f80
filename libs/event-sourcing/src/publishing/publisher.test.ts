import { type CloudEvent, deadLetterTopic, PublisherFenced, serviceTopic } from '@bindery/message-bus';
import { openTestPorts, type TestPorts, type TestRuntime, testRuntime, until } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Board, type BoardCommand, type BoardEvent, boards, publicBoards } from '../fixtures/boards.ts';
import { FaultyBus } from '../fixtures/faults.ts';
import type { Repository } from '../index.ts';
import { EpochPosition } from '../shared/epoch.ts';
import { publisherId } from './publisher.ts';

const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });
const workersSpec = { name: 'content.workers', version: 1, indexes: [] };

type Opened = TestRuntime & { readonly repository: Repository<Board, BoardCommand, BoardEvent> };

describe('a publisher', () => {
  let ports: TestPorts;
  let bus: FaultyBus;
  const running: TestRuntime[] = [];

  const open = async (validatePublic: (event: CloudEvent) => void = () => undefined): Promise<Opened> => {
    const opened = await testRuntime({
      service: 'content',
      projections: [],
      publicMapping: publicBoards,
      validatePublic,
      ports: { ...ports, bus },
    });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    return { ...opened, repository };
  };
  const stopAll = async (): Promise<void> => {
    for (const { stop } of running.splice(0)) await stop();
  };
  const topic = async (name = serviceTopic('content')): Promise<CloudEvent[]> =>
    (await ports.bus.last(name, 1000)).map(({ event }) => event);
  const textsOf = (events: readonly CloudEvent[], subject: string): unknown[] =>
    events.filter((event) => event.subject === subject).map(({ data }) => Object(data).text);
  const write = async ({ repository, metadata }: Opened, from: number, to: number): Promise<void> => {
    for (let index = from; index < to; index += 1)
      for (const id of ['b1', 'b2', 'b3']) await repository.handle(id, add(`n${index}`), metadata());
  };
  const begin = async (): Promise<Opened> => {
    const opened = await open();
    for (const id of ['b1', 'b2', 'b3']) await opened.repository.handle(id, create, opened.metadata());
    return opened;
  };
  const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

  beforeEach(async () => {
    ports = await openTestPorts();
    bus = new FaultyBus(ports.bus);
  });
  afterEach(async () => {
    bus.down = false;
    await stopAll();
    await ports.remove();
  });

  test('puts public events on the topic with the whole envelope', async () => {
    const { repository, metadata, settled } = await open();
    await repository.handle('b1', create, metadata());
    const meta = metadata({
      correlationId: 'request-7',
      organizationId: 'org-1',
      traceparent: '00-11111111111111111111111111111111-2222222222222222-01',
    });
    const { events } = await repository.handle('b1', add('hello'), meta);
    await repository.handle('b1', { type: 'DeleteBoard', data: {} }, metadata());
    await settled();
    const [note, deleted, gone] = await topic();
    const [cause] = events;
    expect(note).toEqual({
      specversion: '1.0',
      id: cause?.id,
      source: '/services/content',
      type: 'bindery.content.note.added.v1',
      subject: 'b1',
      time: '2026-03-01T12:00:00.000Z',
      datacontenttype: 'application/json',
      dataschema: '/asyncapi.json#/components/schemas/bindery.content.note.added.v1',
      data: { number: 1, text: 'hello' },
      organizationid: 'org-1',
      traceparent: '00-11111111111111111111111111111111-2222222222222222-01',
      correlationid: 'request-7',
      sequence: String(cause?.position).padStart(16, '0'),
    });
    expect(gone?.id).toBe(`${deleted?.id}.2`);
    expect(gone?.data).toEqual({});
  });

  test('in order per key, each once when nothing fails', async () => {
    const opened = await begin();
    await write(opened, 0, 10);
    await opened.settled();
    const events = await topic();
    for (const id of ['b1', 'b2', 'b3']) expect(textsOf(events, id)).toEqual(upTo(10));
  });

  test('a bus that is away only delays', async () => {
    const opened = await begin();
    bus.down = true;
    await write(opened, 0, 5);
    await until('the delay shows', async () => {
      const { publisher } = await opened.runtime.status();
      return publisher?.lag === 15 && publisher.error?.includes('switched off') === true;
    });
    bus.down = false;
    await opened.settled();
    const events = await topic();
    for (const id of ['b1', 'b2', 'b3']) expect(textsOf(events, id)).toEqual(upTo(5));
    expect((await opened.runtime.status()).publisher?.error).toBeUndefined();
  });

  test('an answer of the bus that is lost is made good from the end of the topic, without a repeat', async () => {
    const opened = await begin();
    bus.loseAnswers = 2;
    await write(opened, 0, 5);
    await opened.settled();
    const events = await topic();
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    for (const id of ['b1', 'b2', 'b3']) expect(textsOf(events, id)).toEqual(upTo(5));
  });

  test('goes on after a restart, with and without its checkpoint', async () => {
    await write(await begin(), 0, 3);
    await stopAll();
    await write(await open(), 3, 6);
    await stopAll();
    await ports.readStore.drop(workersSpec, 0);
    const third = await open();
    await write(third, 6, 9);
    await third.settled();
    const events = await topic();
    expect(events).toHaveLength(27);
    for (const id of ['b1', 'b2', 'b3']) expect(textsOf(events, id)).toEqual(upTo(9));
  });

  test('a log that was restored from a backup ends before its topic: what is written from then on is published', async () => {
    const first = await begin();
    await write(first, 0, 3);
    await first.settled();
    await stopAll();
    await ports.readStore.drop(workersSpec, 0);
    // All that the topic's end has was published after the backup.
    const tail = await ports.bus.last(serviceTopic('content'), 1000);
    bus.last = async () =>
      tail.map((message, index) => ({
        ...message,
        event: { ...message.event, id: `later-${index}`, sequence: String(1_000_000 + index) },
      }));
    const second = await open();
    await write(second, 3, 4);
    await second.settled();
    // What the topic has already comes once more, with the same ids.
    expect(textsOf(await topic(), 'b1')).toEqual([...upTo(3), ...upTo(4)]);
  });

  test('what does not fit its schema goes to the dead letters with the reason, and shows; the rest goes on', async () => {
    const opened = await open((event) => {
      if (Object(event.data).text === 'n1') throw new Error('text must not be n1');
    });
    await opened.repository.handle('b1', create, opened.metadata());
    for (const text of upTo(3)) await opened.repository.handle('b1', add(text), opened.metadata());
    await opened.settled();
    expect(textsOf(await topic(), 'b1')).toEqual(['n0', 'n2']);
    const letters = await topic(deadLetterTopic('content-publisher'));
    expect(letters).toMatchObject([
      {
        type: 'bindery.dead-letter.v1',
        subject: 'b1',
        data: { reason: 'Error: text must not be n1', topic: 'bindery.content.v1', event: { data: { text: 'n1' } } },
      },
    ]);
    const alarm = '1 events are in bindery.content-publisher.dead-letters.v1';
    expect((await opened.runtime.status()).publisher?.error).toBe(alarm);
    await stopAll();
    const again = await open();
    await again.settled();
    expect((await again.runtime.status()).publisher?.error).toBe(alarm);
  });

  test('one of two processes publishes; the other takes over', async () => {
    const one = await begin();
    const two = await open();
    await write(one, 0, 3);
    await one.settled();
    await one.runtime.stop();
    running.splice(
      running.findIndex(({ runtime }) => runtime === one.runtime),
      1,
    );
    for (const id of ['b1', 'b2', 'b3']) await two.repository.handle(id, add('n3'), two.metadata());
    await until('it is published', async () => (await topic()).length >= 12);
    const events = await topic();
    expect(events).toHaveLength(12);
    for (const id of ['b1', 'b2', 'b3']) expect(textsOf(events, id)).toEqual(upTo(4));
  });

  test('whoever was paused while another took over cannot write to the topic; the one that took over goes on', async () => {
    await ports.bus.ensureTopics([serviceTopic('content')]);
    const paused = await ports.bus.openPublisher(publisherId('content'));
    const opened = await begin();
    await write(opened, 0, 2);
    await opened.settled();
    const [known] = await ports.bus.last(serviceTopic('content'), 1);
    const late = [{ key: 'b1', event: { ...(known?.event as CloudEvent), id: 'late' } }];
    await expect(paused.publish(serviceTopic('content'), late)).rejects.toBeInstanceOf(PublisherFenced);
    const thief = await ports.bus.openPublisher(publisherId('content'));
    await write(opened, 2, 4);
    await opened.settled();
    await expect(thief.publish(serviceTopic('content'), late)).rejects.toBeInstanceOf(PublisherFenced);
    const events = await topic();
    expect(events).toHaveLength(12);
    for (const id of ['b1', 'b2', 'b3']) expect(textsOf(events, id)).toEqual(upTo(4));
  });

  test('a holder that another has followed cannot store its position any more', async () => {
    const paused = await EpochPosition.open(ports.readStore, 'content', 'test');
    await paused.takeOver(1, async () => 0);
    await paused.save(5);
    const next = await EpochPosition.open(ports.readStore, 'content', 'test');
    expect(await next.takeOver(2, async () => 0)).toMatchObject({ position: 5, epoch: 2 });
    await expect(paused.save(6)).rejects.toThrow('another process has taken over');
    expect(await next.read()).toMatchObject({ position: 5 });
  });
});

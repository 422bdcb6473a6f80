import { createHash } from 'node:crypto';
import { createMembership, deriveEventId, type Membership } from '@bindery/event-sourcing';
import { type BusMessage, type Handled, type MessageBus, serviceTopic } from '@bindery/message-bus';
import type { Logger } from '@bindery/telemetry';
import { subjectOf } from '../../space-model/index.ts';
import type { GrantsRepository } from '../deps.ts';
import type { GrantReader } from '../read-model/source.ts';

interface Ended {
  readonly organizationId: string;
  readonly kind: 'user' | 'team';
  readonly subjectId: string;
  readonly reason: 'member-removed' | 'team-deleted';
}

const done: Handled = { kind: 'done' };
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Only the fields that matter here are read. */
const endedBy = ({ event }: BusMessage): Ended | undefined => {
  const data: Readonly<Record<string, unknown>> = Object(event.data);
  const organizationId = text(data.organizationId);
  if (organizationId === undefined) return undefined;
  const [userId, teamId] = [text(data.userId), text(data.teamId)];
  if (event.type === 'bindery.identity.member.removed.v1' && userId !== undefined)
    return { organizationId, kind: 'user', subjectId: userId, reason: 'member-removed' };
  if (event.type === 'bindery.identity.team.deleted.v1' && teamId !== undefined)
    return { organizationId, kind: 'team', subjectId: teamId, reason: 'team-deleted' };
  return undefined;
};

/**
 * Follows what happens to members and teams: takes what a removed member or a deleted team was given. It does not count any more already: principals have neither
 * then. Handling an event twice changes nothing, also when the member is back: only grants from before count.
 */
export const createIdentityConsumer = (deps: {
  readonly bus: MessageBus;
  readonly logger: Logger;
  readonly grants: Pick<GrantReader, 'of'>;
  readonly grantsRepository: GrantsRepository;
}): Membership => {
  const { bus, logger, grants, grantsRepository } = deps;

  const handle = async (message: BusMessage): Promise<Handled> => {
    const ended = endedBy(message);
    if (ended === undefined) return done;
    const { organizationId, kind, subjectId, reason } = ended;
    const { id: cause, time, correlationid } = message.event;
    const found: string[] = [];
    for await (const { resourceId } of grants.of(organizationId, [subjectOf(kind, subjectId)])) found.push(resourceId);
    for (const resourceId of found) {
      let count = 0;
      await grantsRepository.handle(
        resourceId,
        {
          type: 'DropGrants',
          data: {
            resourceId,
            organizationId,
            subject: { kind, subjectId },
            before: time,
            reason,
            by: 'service:content',
            at: time,
          },
        },
        {
          correlationId: correlationid ?? createHash('sha256').update(cause).digest('hex').slice(0, 32),
          causationId: cause,
          actor: { kind: 'service', id: 'service:content' },
          organizationId,
          now: new Date(time),
          eventId: () => {
            count += 1;
            return deriveEventId(cause, `drop-grants/${resourceId}/${count}`);
          },
        },
      );
    }
    return done;
  };

  return createMembership({
    ...{ bus, logger },
    options: { group: 'content-grants', topics: [serviceTopic('identity')], handle },
  });
};

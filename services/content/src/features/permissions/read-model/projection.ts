import type { DomainEvent, Projection, ProjectionReader, ProjectionWrite, Recorded } from '@bindery/event-sourcing';
import {
  type GrantDocument,
  grantsSpec,
  type ResourceGrantsDocument,
  resourceGrantsSpec,
  subjectOf,
} from '../../space-model/index.ts';
import { grantsAggregate } from '../aggregate.ts';
import type { GrantEvent } from '../events.ts';

const apply = async (event: Recorded<DomainEvent>, reader: ProjectionReader): Promise<readonly ProjectionWrite[]> => {
  // The runtime hands over only events of the types in `handles`.
  const fact = event as Recorded<GrantEvent>;
  const { revision } = event;
  const { resource, resourceId, organizationId, kind, subjectId } = fact.data;
  const subject = subjectOf(kind, subjectId);
  const id = `${resourceId}.${subject}`;
  const before = await reader.get<ResourceGrantsDocument>(resourceGrantsSpec, resourceId);
  // Whatever another organization gave is revoked before this one gives anything.
  const { [subject]: _, ...others } = before?.organizationId === organizationId ? before.levels : {};
  const levels = fact.type === 'AccessGranted' ? { ...others, [subject]: fact.data.level } : others;
  const all: ResourceGrantsDocument = { resource, organizationId, levels };
  const writes: ProjectionWrite[] = [
    { collection: resourceGrantsSpec, write: { kind: 'put', id: resourceId, revision, document: all } },
  ];
  if (fact.type === 'AccessGranted') {
    const { level, grantedAt } = fact.data;
    const document: GrantDocument = {
      resourceId,
      resource,
      organizationId,
      kind,
      subjectId,
      subject,
      level,
      grantedAt,
    };
    writes.push({ collection: grantsSpec, write: { kind: 'put', id, revision, document } });
  } else writes.push({ collection: grantsSpec, write: { kind: 'remove', id, revision } });
  return writes;
};

/** `content.grants`, one document per grant, and `content.resource-grants`, one per space or collection. */
export const grantsProjection: Projection = {
  name: 'grants',
  mode: 'inline',
  aggregates: [grantsAggregate.name],
  handles: ['AccessGranted', 'AccessRevoked'],
  collections: [grantsSpec, resourceGrantsSpec],
  apply,
};

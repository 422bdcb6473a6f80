import { documentPerStream, ignoreUnknown, type Projection, type Recorded } from '@bindery/event-sourcing';
import { orderKeyAt, type SpaceDocument, spacesCollection, topLevel } from '../../space-model/index.ts';
import type { SpaceEvent, SpaceSettings } from '../events.ts';

type Created = Extract<SpaceEvent, { type: 'SpaceCreated' }>['data'];
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Sets a value, or takes the field away: null is how a setting is cleared. */
const assign = <K extends 'emoji' | 'icon'>(
  document: Mutable<SpaceDocument>,
  field: K,
  value: string | null | undefined,
): void => {
  if (value === null || value === '') delete document[field];
  else if (value !== undefined) document[field] = value;
};

/** What the filters of lists ask for. It agrees with `levelOn`: a space is in the lists of those who have a level on it. */
const audienceOf = (
  defaultLevel: SpaceDocument['defaultLevel'],
  visibility: SpaceDocument['visibility'],
  place: string,
): SpaceDocument['audience'] => {
  if (defaultLevel === 'inherit') return 'inherit';
  if (defaultLevel !== null) return 'open';
  return visibility === 'in-collection' && place !== topLevel ? 'inherit' : 'closed';
};

const moved = (
  { parent: _, ...space }: SpaceDocument,
  data: Extract<SpaceEvent, { type: 'SpaceMoved' | 'SpaceTransferred' }>['data'],
  at: string,
): SpaceDocument => {
  const { organizationId, parent, order = space.order, visibility = space.visibility } = data;
  const place = parent ?? topLevel;
  const audience = audienceOf(space.defaultLevel, visibility, place);
  const within = parent === null ? {} : { parent };
  const received =
    space.received === true || organizationId !== space.organizationId ? { received: true as const } : {};
  return {
    ...space,
    organizationId,
    ...within,
    ...received,

    place,
    order,
    visibility,
    audience,
    updatedAt: at,
  };
};

const created = (data: Created): SpaceDocument => ({
  id: data.spaceId,
  organizationId: data.organizationId,
  title: data.title,
  ...(data.emoji ? { emoji: data.emoji } : {}),
  ...(data.icon ? { icon: data.icon } : {}),
  visibility: data.visibility,
  defaultLevel: data.defaultLevel,
  ...(data.editMode ? { editMode: data.editMode } : {}),
  ...(data.language ? { language: data.language } : {}),
  mergeRules: data.mergeRules,
  ...(data.parent ? { parent: data.parent } : {}),
  ...(data.computed ? { computed: data.computed } : {}),
  revision: '',
  changeRequests: 0,
  createdBy: data.createdBy,
  createdAt: data.createdAt,
  updatedAt: data.createdAt,
  deleted: false,
  place: data.parent ?? topLevel,
  order: data.order ?? orderKeyAt(data.createdAt, data.spaceId),
  audience: audienceOf(data.defaultLevel, data.visibility, data.parent ?? topLevel),
});

const settled = (space: SpaceDocument, settings: SpaceSettings, at: string): SpaceDocument => {
  const next: Mutable<SpaceDocument> = { ...space, updatedAt: at };
  if (settings.title !== undefined) next.title = settings.title;
  if (settings.editMode !== undefined) next.editMode = settings.editMode;
  if (settings.language !== undefined) next.language = settings.language;
  if (settings.mergeRules !== undefined) next.mergeRules = settings.mergeRules;
  if (settings.defaultLevel !== undefined) {
    next.defaultLevel = settings.defaultLevel;
    next.audience = audienceOf(settings.defaultLevel, next.visibility, next.place);
  }
  assign(next, 'emoji', settings.emoji);
  assign(next, 'icon', settings.icon);
  return next;
};

const withoutDeletion = ({ deletedAt: _at, purgeAfter: _until, ...space }: SpaceDocument): SpaceDocument => ({
  ...space,
  deleted: false,
});

/** The document of a space after one more event; null removes it. Never throws: what is recorded is a fact. */
export const evolveSpace = (
  space: SpaceDocument | undefined,
  event: Pick<Recorded<SpaceEvent>, 'type' | 'data'>,
): SpaceDocument | null | undefined => {
  const fact = event as SpaceEvent;
  if (fact.type === 'SpaceCreated') return created(fact.data);
  if (space === undefined) return undefined;
  switch (fact.type) {
    case 'SpaceSettingsChanged':
      return settled(space, fact.data.settings, fact.data.changedAt);
    case 'SpaceMoved':
      return moved(space, fact.data, fact.data.movedAt);
    case 'SpaceTransferred':
      return moved(space, fact.data, fact.data.transferredAt);
    case 'SpaceDeleted':
      return { ...space, deleted: true, deletedAt: fact.data.deletedAt, purgeAfter: fact.data.purgeAfter };
    case 'SpaceRestored':
      return withoutDeletion(space);
    case 'SpacePurged':
      return null;
    case 'ChangeRequestNumbered':
      return { ...space, changeRequests: fact.data.number };
    case 'RevisionCommitted':
      return { ...space, revision: fact.data.revisionId, updatedAt: fact.data.createdAt };
    case 'RevisionPartRecorded':
    case 'MergeAbandoned':
    case 'SpaceContentPurged':
      return space;
    default:
      return ignoreUnknown(space, fact);
  }
};

/**
 * `content.spaces`: one document per space. Every event of the stream is handled, also those that change nothing, so that
 * the document's revision is the stream's and can serve as entity tag.
 */
export const spacesProjection: Projection = documentPerStream<SpaceEvent, SpaceDocument>({
  name: 'spaces',
  aggregate: 'content.space',
  collection: spacesCollection,
  handles: [
    'SpaceCreated',
    'SpaceSettingsChanged',
    'SpaceMoved',
    'SpaceTransferred',
    'SpaceDeleted',
    'SpaceRestored',
    'SpacePurged',
    'ChangeRequestNumbered',
    'RevisionPartRecorded',
    'RevisionCommitted',
    'MergeAbandoned',
  ],
  evolve: evolveSpace,
});

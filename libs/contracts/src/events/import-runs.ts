import Type from 'typebox';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, words } from '../kit/schema.ts';

// Addresses of websites and names of files are private.

const importRunId = 'i3Jd8wKc5QnTz7Vx2LpR';
const organizationId = 'o9Fj3sNc7PdHa1TgK6vW';
const spaceId = 's7Kq2mXv9LpTa4Zc8WnB';
const user = 'u4Qm2tXz8LkVw0RyB5nE';
const at = '2026-01-31T09:30:00.000Z';
const later = '2026-01-31T09:34:00.000Z';

const ids = { importRunId: Id(), organizationId: Id(), spaceId: Id() };
const sample = { importRunId, organizationId, spaceId };

const importRunStarted = publicEvent({
  type: 'bindery.content.import-run.started.v1',
  owner: 'content',
  summary: 'Somebody asked for an import.',
  data: closed({
    ...ids,
    changeRequestId: Type.Optional(Id()),
    source: words(['website', 'file']),
    startedBy: Id(),
    startedAt: DateTime,
  }),
  samples: [{ ...sample, source: 'website', startedBy: user, startedAt: at }],
});

const importRunCompleted = publicEvent({
  type: 'bindery.content.import-run.completed.v1',
  owner: 'content',
  summary: 'An import is in the content.',
  description:
    '`changeRequestId`: where it is; `merged`: whether that was merged at once. `failed`: pages that could not be read.',
  data: closed({
    ...ids,
    changeRequestId: Id(),
    revisionId: Id(),
    merged: Type.Boolean(),
    pages: Type.Integer(),
    failed: Type.Integer(),
    completedAt: DateTime,
  }),
  samples: [
    {
      ...sample,
      changeRequestId: 'c5Xw8nVb2JkQe7Rt4YmL',
      revisionId: 'r1Zt6yHn3CvGs9Bd5FqK',
      merged: true,
      pages: 12,
      failed: 1,
      completedAt: later,
    },
  ],
});

const importRunFailed = publicEvent({
  type: 'bindery.content.import-run.failed.v1',
  owner: 'content',
  summary: 'An import came to nothing.',
  data: closed({ ...ids, code: Type.String({ description: 'A word for machines.' }), failedAt: DateTime }),
  samples: [{ ...sample, code: 'nothing', failedAt: later }],
});

const importRunCancelled = publicEvent({
  type: 'bindery.content.import-run.cancelled.v1',
  owner: 'content',
  summary: 'An import was cancelled; nothing of it is in the content.',
  data: closed({ ...ids, cancelledBy: Id(), cancelledAt: DateTime }),
  samples: [{ ...sample, cancelledBy: user, cancelledAt: later }],
});

/** What the content service tells of imports of websites and files. */
export const importRunEvents = { importRunStarted, importRunCompleted, importRunFailed, importRunCancelled };

import type { AuditRules } from '@bindery/audit';
import type { ImportRunEvent } from '../import-runs/index.ts';

const run = ({ importRunId }: { readonly importRunId: string }) => ({
  target: { type: 'import-run', id: importRunId },
});
const step = { skip: 'A step of an import, whose end has an entry.' } as const;

export const importRunRules: AuditRules<ImportRunEvent> = {
  ImportRunRequested: {
    action: 'import-run.started',
    label: 'Import started',
    facts: (data) => ({
      ...run(data),
      details: {
        spaceId: data.spaceId,
        changeRequestId: data.changeRequestId,
        source: data.source.type === 'website' ? data.source.url : data.source.files.length,
      },
    }),
  },
  ImportRunTaken: step,
  ImportRunProgressed: step,
  ImportRunLanding: step,
  ImportRunCompleted: {
    action: 'import-run.completed',
    label: 'Import completed',
    facts: (data) => ({
      ...run(data),
      details: {
        spaceId: data.spaceId,
        changeRequestId: data.changeRequestId,
        revisionId: data.revisionId,
        merged: data.merged,
        pages: data.pages.length,
        failed: data.failed,
      },
    }),
  },
  ImportRunFailed: {
    action: 'import-run.failed',
    label: 'Import failed',
    facts: (data) => ({ ...run(data), details: { spaceId: data.spaceId, code: data.code } }),
  },
  ImportRunCancelled: {
    action: 'import-run.cancelled',
    label: 'Import cancelled',
    facts: (data) => ({ ...run(data), details: { spaceId: data.spaceId } }),
  },
  ImportRunCleared: step,
};

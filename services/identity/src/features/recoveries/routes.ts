import type { recordRecovery } from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import type { OperationHandler } from '@bindery/service-kit';
import type { RecordRecovery } from './decider.ts';
import type { RecoveryEvent } from './events.ts';
import type { RecoveryState } from './state.ts';

/** Records what an administrator lets go on, under the administrator's name. */
export const recordRecoveryRoute =
  (deps: {
    readonly recoveries: Repository<RecoveryState, RecordRecovery, RecoveryEvent>;
  }): OperationHandler<typeof recordRecovery> =>
  async (context, { body: { topic, ...rest } }) => {
    const data = { ...rest, ...(topic === undefined ? {} : { topic }) };
    const command = { type: 'RecordRecovery', data } as const;
    await deps.recoveries.handle(context.ids.id(), command, commandMetadata(context), { likelyNew: true });
    return { status: 204 };
  };

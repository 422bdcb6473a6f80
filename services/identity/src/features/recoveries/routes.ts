import type { BodyOf, recordRecovery } from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import type { OperationHandler } from '@bindery/service-kit';
import type { RecoveryCommand } from './decider.ts';
import type { RecoveryEvent } from './events.ts';
import type { RecoveryState } from './state.ts';

const commandOf = ({ topic, discarded, forgotten, ...rest }: BodyOf<typeof recordRecovery>): RecoveryCommand => {
  if (discarded !== undefined && topic !== undefined)
    return { type: 'RecordDiscard', data: { ...rest, kind: 'parked-key', topic, ...discarded } };
  if (forgotten !== undefined && topic !== undefined)
    return { type: 'RecordForget', data: { ...rest, kind: 'parked-key', topic, ...forgotten } };
  return { type: 'RecordRecovery', data: { ...rest, ...(topic === undefined ? {} : { topic }) } };
};

/** Records what an administrator lets go on, under the administrator's name. */
export const recordRecoveryRoute =
  (deps: {
    readonly recoveries: Repository<RecoveryState, RecoveryCommand, RecoveryEvent>;
  }): OperationHandler<typeof recordRecovery> =>
  async (context, { body }) => {
    const command = commandOf(body);
    await deps.recoveries.handle(context.ids.id(), command, commandMetadata(context), { likelyNew: true });
    return { status: 204 };
  };

import type { reportDenials } from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import type { OperationHandler } from '@bindery/service-kit';
import type { RecordDenials } from './decider.ts';
import type { DenialEvent } from './events.ts';
import type { DenialState } from './state.ts';

const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

/** Records what the gateway refused. */
export const reportDenialsRoute =
  (deps: {
    readonly denials: Repository<DenialState, RecordDenials, DenialEvent>;
  }): OperationHandler<typeof reportDenials> =>
  async (context, { body }) => {
    const denials = body.denials.map(({ tokenId, origin, network, organizationId, ...rest }) => ({
      ...rest,
      ...present({ tokenId, origin, network, organizationId }),
    }));
    const command = { type: 'RecordDenials', data: { denials } } as const;
    await deps.denials.handle(body.reportId, command, commandMetadata(context), { likelyNew: true });
    return { status: 204 };
  };

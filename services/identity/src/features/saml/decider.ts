import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import { conflict, notFound } from '@bindery/service-kit';
import type { ProviderEvent, ProviderSettings } from './events.ts';
import { evolve, initialState, type ProviderState, providerAggregateName, settingsOf } from './state.ts';

type EventData<T extends ProviderEvent['type']> = Extract<ProviderEvent, { type: T }>['data'];

/** Commands on one identity provider. */
export type ProviderCommand =
  | { readonly type: 'CreateSamlProvider'; readonly data: EventData<'SamlProviderCreated'> }
  | { readonly type: 'ChangeSamlProvider'; readonly data: EventData<'SamlProviderChanged'> }
  | { readonly type: 'DeleteSamlProvider'; readonly data: EventData<'SamlProviderDeleted'> };

export const decide = (command: ProviderCommand, state: ProviderState): readonly ProviderEvent[] => {
  switch (command.type) {
    case 'CreateSamlProvider':
      if (state.status === 'none') return [{ type: 'SamlProviderCreated', data: command.data }];
      // A repeated request: this id was made for it.
      if (state.status === 'present' && state.organizationId === command.data.organizationId) return [];
      throw conflict('saml_provider.exists', 'A SAML provider with this id exists.');
    case 'ChangeSamlProvider': {
      const { organizationId, changes } = command.data;
      if (state.status !== 'present' || state.organizationId !== organizationId) throw notFound('SAML provider');
      const different = differences(state.settings, changes);
      if (Object.keys(different).length === 0) return [];
      return [{ type: 'SamlProviderChanged', data: { ...command.data, changes: different } }];
    }
    case 'DeleteSamlProvider':
      if (state.status !== 'present' || state.organizationId !== command.data.organizationId) return [];
      return [{ type: 'SamlProviderDeleted', data: command.data }];
    default:
      return assertNever(command);
  }
};

const differences = (before: ProviderSettings, changes: Partial<ProviderSettings>): Partial<ProviderSettings> => {
  const after = settingsOf({ ...before, ...changes });
  return Object.fromEntries(
    Object.entries(after).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(Object(before)[field])),
  );
};

/** An identity provider: one stream each, since signing in reads it and nothing else of the organization. */
export const providerAggregate: AggregateDefinition<ProviderState, ProviderCommand, ProviderEvent> = {
  name: providerAggregateName,
  decider: { initialState, decide, evolve },
};

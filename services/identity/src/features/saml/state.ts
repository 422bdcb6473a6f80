import { ignoreUnknown } from '@bindery/event-sourcing';
import type { ProviderEvent, ProviderSettings } from './events.ts';

/** A provider as decisions see it. */
export type ProviderState =
  | { readonly status: 'none' }
  | { readonly status: 'deleted' }
  | { readonly status: 'present'; readonly organizationId: string; readonly settings: ProviderSettings };

/** Prefix of the streams of identity providers. */
export const providerAggregateName = 'identity.samlProvider';

export const initialState = (): ProviderState => ({ status: 'none' });

/** The settings alone, of an object that may hold more. */
export const settingsOf = (from: ProviderSettings): ProviderSettings => {
  const { label, entityID, ssoURL, certificates, defaultRole, defaultTeam } = from;
  return {
    label,
    certificates,
    defaultRole,
    ...(entityID === undefined ? {} : { entityID }),
    ...(ssoURL === undefined ? {} : { ssoURL }),
    ...(defaultTeam === undefined ? {} : { defaultTeam }),
  };
};

export const evolve = (state: ProviderState, event: ProviderEvent): ProviderState => {
  switch (event.type) {
    case 'SamlProviderCreated':
      return { status: 'present', organizationId: event.data.organizationId, settings: settingsOf(event.data) };
    case 'SamlProviderChanged':
      return state.status === 'present' ? { ...state, settings: { ...state.settings, ...event.data.changes } } : state;
    case 'SamlProviderDeleted':
      return { status: 'deleted' };
    default:
      return ignoreUnknown(state, event);
  }
};

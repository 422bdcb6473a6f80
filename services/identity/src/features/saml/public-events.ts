import type { EventDataOf, identityEvents } from '@bindery/contracts';
import { assertNever, type PublicEvent } from '@bindery/event-sourcing';
import type { ProviderEvent } from './events.ts';
import type { AssertionUsed } from './login/assertion-use.ts';
import type { LoginEvent } from './login/login-aggregate.ts';

type Catalogue = typeof identityEvents;

const published = <K extends keyof Catalogue>(
  type: Catalogue[K]['type'],
  subject: string,
  data: EventDataOf<Catalogue[K]>,
): readonly PublicEvent[] => [{ type, subject, data: { ...data } }];

/** What others learn of providers and of signing in through them: facts and ids, never an address or a certificate. */
export const samlPublicEvents = (event: ProviderEvent | LoginEvent | AssertionUsed): readonly PublicEvent[] => {
  switch (event.type) {
    case 'SamlProviderCreated': {
      const { organizationId, providerId, createdAt } = event.data;
      const data = { organizationId, providerId, createdAt };
      return published<'samlProviderCreated'>('bindery.identity.saml-provider.created.v1', providerId, data);
    }
    case 'SamlProviderChanged': {
      const { organizationId, providerId, changes, changedAt } = event.data;
      const data = { organizationId, providerId, fields: Object.keys(changes).sort(), updatedAt: changedAt };
      return published<'samlProviderUpdated'>('bindery.identity.saml-provider.updated.v1', providerId, data);
    }
    case 'SamlProviderDeleted': {
      const { organizationId, providerId, deletedAt } = event.data;
      const data = { organizationId, providerId, deletedAt };
      return published<'samlProviderDeleted'>('bindery.identity.saml-provider.deleted.v1', providerId, data);
    }
    case 'SamlLoginAccepted': {
      const { organizationId, providerId, userId, acceptedAt } = event.data;
      const data = { organizationId, providerId, userId, acceptedAt };
      return published<'samlLoginAccepted'>('bindery.identity.saml-login.accepted.v1', providerId, data);
    }
    case 'SamlLoginRefused': {
      const { organizationId, providerId, reason, refusedAt } = event.data;
      const data = { organizationId, providerId, reason, refusedAt };
      return published<'samlLoginRefused'>('bindery.identity.saml-login.refused.v1', providerId, data);
    }
    case 'SamlLoginFinished':
    case 'SamlAssertionUsed':
    case 'SsoBypassed':
      return [];
    default:
      return assertNever(event);
  }
};

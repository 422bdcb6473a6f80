import type { Repository } from '@bindery/event-sourcing';
import type { CursorCodec, ServiceClient } from '@bindery/service-kit';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import type { HasActiveProvider } from '../../shared/ports.ts';
import type { AcceptDeps } from './accept.ts';
import type { InviteLinkCommand, InviteLinkState } from './links/decider.ts';
import type { InviteLinkEvent } from './links/events.ts';
import type { LiveInviteLinks } from './links/read-model.ts';
import type { LiveInvitations } from './pending/read-model.ts';

/** What the routes of invites work with. */
export interface InviteRoutesDeps extends AcceptDeps {
  readonly links: Repository<InviteLinkState, InviteLinkCommand, InviteLinkEvent>;
  readonly liveLinks: LiveInviteLinks;
  readonly liveInvitations: LiveInvitations;
  readonly services: ServiceClient;
  readonly sealer: PersonalDataSealer;
  readonly cursors: CursorCodec;
  readonly hasActiveProvider: HasActiveProvider;
  /** User id of an address that somebody with an account has. */
  readonly userOfEmail: (email: string) => Promise<string | undefined>;
  readonly userExists: (userId: string) => Promise<boolean>;
}

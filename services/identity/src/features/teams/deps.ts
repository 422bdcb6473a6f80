import type { Repository } from '@bindery/event-sourcing';
import type { CursorCodec } from '@bindery/service-kit';
import type { ForgetPrincipal } from '../../shared/ports.ts';
import type { LiveMembers, PresentMembers } from '../members/index.ts';
import type { TeamCommand } from './decider.ts';
import type { TeamEvent } from './events.ts';
import type { PresentTeams } from './presenter.ts';
import type { LiveTeams } from './queries.ts';
import type { TeamState } from './state.ts';

/** What the routes of teams work with. */
export interface TeamRoutesDeps {
  readonly repository: Repository<TeamState, TeamCommand, TeamEvent>;
  readonly live: LiveTeams;
  readonly members: LiveMembers;
  readonly presentMembers: PresentMembers;
  readonly present: PresentTeams;
  readonly cursors: CursorCodec;
  readonly forget: ForgetPrincipal;
  /** User id of an address, when somebody has it. */
  readonly userOfEmail: (email: string) => Promise<string | undefined>;
}

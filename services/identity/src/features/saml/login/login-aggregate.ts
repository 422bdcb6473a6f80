import { type AggregateDefinition, assertNever, ignoreUnknown } from '@bindery/event-sourcing';
import { SamlRefusal } from './refusal.ts';

interface OfLogin {
  /** Id of the request that was answered; of a refusal, which may answer nothing, an id of its own. */
  readonly loginId: string;
  readonly providerId: string;
  readonly organizationId: string;
}

/** What happened to one attempt to sign in. Nothing of the answer is kept, and nobody but a user id is named. */
export type LoginEvent =
  | {
      readonly type: 'SamlLoginAccepted';
      readonly data: OfLogin & { readonly userId: string; readonly acceptedAt: string };
    }
  /** The browser that began it got its session. */
  | {
      readonly type: 'SamlLoginFinished';
      readonly data: OfLogin & { readonly userId: string; readonly finishedAt: string };
    }
  | {
      readonly type: 'SamlLoginRefused';
      readonly data: OfLogin & { readonly reason: string; readonly refusedAt: string };
    }
  /** An administrator of an organization that enforces single sign-on signed in without it. */
  | {
      readonly type: 'SsoBypassed';
      readonly data: {
        readonly organizationId: string;
        readonly userId: string;
        readonly sessionId: string;
        readonly method: string;
        readonly bypassedAt: string;
      };
    };

/** An attempt as decisions see it. */
export type LoginState =
  | { readonly status: 'open' }
  | { readonly status: 'accepted'; readonly userId: string; readonly providerId: string }
  | { readonly status: 'over' };

/** Commands on one attempt. */
export type LoginCommand =
  | { readonly type: 'AcceptSamlLogin'; readonly data: OfLogin & { readonly userId: string; readonly at: string } }
  | { readonly type: 'FinishSamlLogin'; readonly data: OfLogin & { readonly at: string } }
  | { readonly type: 'RefuseSamlLogin'; readonly data: OfLogin & { readonly reason: string; readonly at: string } }
  | { readonly type: 'NoteSsoBypass'; readonly data: Extract<LoginEvent, { type: 'SsoBypassed' }>['data'] };

export const decideLogin = (command: LoginCommand, state: LoginState): readonly LoginEvent[] => {
  switch (command.type) {
    case 'AcceptSamlLogin': {
      // A request is answered once. (`InResponseTo` binds an assertion to it, so that no assertion serves twice either.)
      if (state.status !== 'open') throw new SamlRefusal('replay');
      const { at, ...data } = command.data;
      return [{ type: 'SamlLoginAccepted', data: { ...data, acceptedAt: at } }];
    }
    case 'FinishSamlLogin': {
      const { at, ...data } = command.data;
      if (state.status !== 'accepted' || state.providerId !== data.providerId) throw new SamlRefusal('replay');
      return [{ type: 'SamlLoginFinished', data: { ...data, userId: state.userId, finishedAt: at } }];
    }
    case 'RefuseSamlLogin': {
      if (state.status !== 'open') return [];
      const { at, ...data } = command.data;
      return [{ type: 'SamlLoginRefused', data: { ...data, refusedAt: at } }];
    }
    case 'NoteSsoBypass':
      return state.status === 'open' ? [{ type: 'SsoBypassed', data: command.data }] : [];
    default:
      return assertNever(command);
  }
};

const evolve = (state: LoginState, event: LoginEvent): LoginState => {
  switch (event.type) {
    case 'SamlLoginAccepted':
      return { status: 'accepted', userId: event.data.userId, providerId: event.data.providerId };
    case 'SamlLoginFinished':
    case 'SamlLoginRefused':
    case 'SsoBypassed':
      return { status: 'over' };
    default:
      return ignoreUnknown(state, event);
  }
};

/** One stream per attempt: being first on it is what makes an answer count once, in every replica. */
export const samlLoginAggregate: AggregateDefinition<LoginState, LoginCommand, LoginEvent> = {
  name: 'identity.samlLogin',
  decider: { initialState: () => ({ status: 'open' }), decide: decideLogin, evolve },
};

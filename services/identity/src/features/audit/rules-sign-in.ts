import type { AuditRules } from '@bindery/audit';
import type { InvitationEvent, InviteLinkEvent } from '../invites/index.ts';
import type { ExternalIdentityEvent } from '../oidc/index.ts';
import type { PasswordEvent, SignInFailed } from '../passwords/index.ts';
import type { AssertionUsed, LoginEvent, ProviderEvent } from '../saml/index.ts';

const user = (id: string) => ({ type: 'user', id });
const invite = (id: string) => ({ type: 'invite-link', id });
const invitation = (id: string) => ({ type: 'invitation', id });
const provider = (id: string) => ({ type: 'saml-provider', id });
const byUser = (id: string) => ({ kind: 'user', id }) as const;

export const passwordRules: AuditRules<PasswordEvent> = {
  PasswordSet: {
    action: 'user.password-set',
    label: 'Password set',
    facts: ({ userId }) => ({ target: user(userId) }),
  },
  SignInLinkIssued: {
    action: 'sign-in-link.created',
    label: 'Sign-in link made',
    facts: ({ userId, purpose, mail, expiresAt }) => ({ target: user(userId), details: { purpose, mail, expiresAt } }),
  },
  SignInLinkUsed: {
    action: 'sign-in-link.used',
    label: 'Sign-in link used',
    facts: ({ userId }) => ({ target: user(userId), actor: byUser(userId) }),
  },
};

export const failureRules: AuditRules<SignInFailed> = {
  SignInFailed: {
    action: 'sign-in.failed',
    label: 'Sign-in refused',
    facts: ({ userId, method, reason }) => ({
      target: userId === undefined ? { type: 'user', id: 'unknown' } : user(userId),
      details: { method, reason },
    }),
  },
};

export const externalIdentityRules: AuditRules<ExternalIdentityEvent> = {
  ExternalIdentityChosen: { skip: 'Half of linking an account elsewhere, which has an entry of its own.' },
  ExternalIdentityLinked: {
    action: 'user.identity-linked',
    label: 'Account elsewhere linked',
    facts: ({ userId }) => ({ target: user(userId) }),
  },
};

export const samlRules: AuditRules<ProviderEvent | LoginEvent | AssertionUsed> = {
  SamlProviderCreated: {
    action: 'saml-provider.created',
    label: 'Identity provider set up',
    facts: ({ providerId, organizationId: _organization, createdAt: _at, certificates, ...settings }) => ({
      target: provider(providerId),
      values: { ...settings, certificates: certificates.length },
    }),
  },
  SamlProviderChanged: {
    action: 'saml-provider.changed',
    label: 'Identity provider changed',
    facts: ({ providerId, changes: { certificates, ...changes } }) => ({
      target: provider(providerId),
      values: { ...changes, certificates: certificates?.length },
    }),
  },
  SamlProviderDeleted: {
    action: 'saml-provider.deleted',
    label: 'Identity provider removed',
    facts: ({ providerId }) => ({ target: provider(providerId), values: { deleted: true } }),
  },
  SamlLoginAccepted: { skip: 'Half of a sign-in, which has an entry of its own: the session.' },
  SamlLoginFinished: { skip: 'Half of a sign-in, which has an entry of its own: the session.' },
  SamlLoginRefused: {
    action: 'sign-in.failed',
    label: 'Sign-in refused',
    facts: ({ providerId, reason }) => ({ target: provider(providerId), details: { method: 'saml', reason } }),
  },
  SsoBypassed: {
    action: 'sso.bypassed',
    label: 'Administrator signed in past single sign-on',
    facts: ({ userId, sessionId, method }) => ({
      target: { type: 'session', id: sessionId },
      details: { userId, method },
    }),
  },
  SamlAssertionUsed: { skip: 'Keeps an assertion from being used twice; the sign-in has an entry of its own.' },
};

export const inviteRules: AuditRules<InviteLinkEvent | InvitationEvent> = {
  InviteLinkCreated: {
    action: 'invite-link.created',
    label: 'Invite link made',
    facts: ({ inviteId, grant }) => ({ target: invite(inviteId), values: { grant } }),
  },
  InviteLinkChanged: {
    action: 'invite-link.changed',
    label: 'Invite link changed',
    facts: ({ inviteId, grant }) => ({ target: invite(inviteId), values: { grant } }),
  },
  InviteLinkDeleted: {
    action: 'invite-link.deleted',
    label: 'Invite link removed',
    facts: ({ inviteId }) => ({ target: invite(inviteId), values: { deleted: true } }),
  },
  EmailInvited: {
    action: 'invitation.sent',
    label: 'Somebody invited by email',
    facts: ({ invitationId, role, sso }) => ({
      target: invitation(invitationId),
      values: { role: role ?? 'guest', sso },
    }),
  },
  InvitationChanged: {
    action: 'invitation.changed',
    label: 'Invitation changed',
    facts: ({ invitationId, role, sso }) => ({
      target: invitation(invitationId),
      values: { role: role ?? 'guest', sso },
    }),
  },
  InvitationAccepted: {
    action: 'invitation.accepted',
    label: 'Invitation accepted',
    facts: ({ invitationId, userId }) => ({ target: invitation(invitationId), values: { acceptedBy: userId } }),
  },
  InvitationWithdrawn: {
    action: 'invitation.withdrawn',
    label: 'Invitation withdrawn',
    facts: ({ invitationId, expired }) => ({
      target: invitation(invitationId),
      values: { withdrawn: true },
      ...(expired ? { details: { expired } } : {}),
    }),
  },
};

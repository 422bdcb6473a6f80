import { type CommandMetadata, commandEventId, streamOf } from '@bindery/event-sourcing';

/** Ends what was remembered about a caller, so that its next request is decided on what is true now. */
export type ForgetPrincipal = (userId: string) => Promise<void>;

/** Tells whoever holds copies of profiles (embedded users) that they may be old. */
export type ProfileChanged = () => Promise<void>;

/** The organizations in which a user owns a team. */
export type TeamsOwnedBy = (userId: string) => Promise<ReadonlySet<string>>;

/** Whether an organization has a SAML provider through which people can sign in. */
export type HasActiveProvider = (organizationId: string) => Promise<boolean>;

/** The email of a user that is known to be its own; undefined when there is none. */
export type VerifiedEmail = (userId: string) => Promise<string | undefined>;

/**
 * Metadata whose event id is known before the command is handled, since sealed data is bound to the event that carries it.
 * @param command for which aggregate, by which command; its first event is meant
 */
export const withKnownEventId = (
  metadata: CommandMetadata,
  command: { readonly aggregate: { readonly name: string }; readonly id: string; readonly type: string },
): { readonly metadata: CommandMetadata; readonly eventId: string } => {
  const seed = metadata.eventId();
  return {
    metadata: { ...metadata, eventId: () => seed },
    eventId: commandEventId(seed, streamOf(command.aggregate, command.id), command.type),
  };
};

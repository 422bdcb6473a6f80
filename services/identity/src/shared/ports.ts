import type { CommandMetadata } from '@bindery/event-sourcing';

/** Ends what was remembered about a caller, so that its next request is decided on what is true now. */
export type ForgetPrincipal = (userId: string) => Promise<void>;

/** Tells whoever embeds users (the gateway) that what it holds may be old. */
export type UsersChanged = () => Promise<void>;

/** The same metadata with event ids that are known before the command, since sealed data is bound to its event's id. */
export const withEventId = (metadata: CommandMetadata, eventId: string): CommandMetadata => ({
  ...metadata,
  eventId: () => eventId,
});

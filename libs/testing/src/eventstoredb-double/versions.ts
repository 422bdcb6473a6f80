/**
 * Behaviour that differs between versions of the server, by the release in which it was found in its source.
 * - `22.10` (22.10.0 to 22.10.3): no "caught up"; a filtered subscription that has come to the end says so with a checkpoint
 *   that is the place of the event that is written next.
 * - `24.10` (24.10.0 to 24.10.4): where nothing was sent yet, that checkpoint is the largest number of all.
 * - `25.0` (25.0.0): as 22.10 when the last page was full.
 * - `25.1` (24.10.5, 25.0.1 and later): a checkpoint is a place that was looked at. An append may have the size of a chunk, an
 *   event 16 MB.
 */
export type ServerVersion = '22.10' | '24.10' | '25.0' | '25.1';

/** All of them, oldest first. */
export const SERVER_VERSIONS: readonly ServerVersion[] = ['22.10', '24.10', '25.0', '25.1'];

const MB = 1024 * 1024;
/** What a record is besides its event. */
const RECORD_OVERHEAD = 10_000;
/** The largest event, and the largest message that the server receives. */
export const MOST_EVENT_BYTES = 16 * MB - RECORD_OVERHEAD;

/** Default of `MaxAppendSize`, in bytes. */
export const maxAppendBytesOf = (version: ServerVersion): number => (version === '25.1' ? 256 * MB : MB);

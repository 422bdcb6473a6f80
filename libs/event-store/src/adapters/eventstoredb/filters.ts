import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { RecordedEvent } from '../../port.ts';

/** Which events of the log are wanted: asked of the server, and checked again here. */
export interface LogFilter {
  /** Equal for equal lists of prefixes. */
  readonly key: string;
  readonly options: streams.ReadReq.Options.FilterOptions;
  readonly matches: (event: Pick<RecordedEvent, 'stream' | 'type'>) => boolean;
}

/** Events that the server looks at in one go. */
const WINDOW = 512;
/** Windows after which a subscription is told how far it is, so that a quiet filter is not read twice (PITFALLS 15). */
const WINDOWS_PER_CHECKPOINT = 4;

const NOTHING = '(?!)';
/** Streams of the server itself begin with $ and are nobody's business. */
const NO_SYSTEM_STREAM = '^[^$]';

/**
 * Whether an event was written by a client, not by the server. Types that begin with $ are the server's: the end of a stream
 * for ever ($streamDeleted, which stands in the stream itself, with no data and a revision beyond all others), links ($>).
 */
export const isOurs = ({ stream, type }: Pick<RecordedEvent, 'stream' | 'type'>): boolean =>
  !stream.startsWith('$') && !type.startsWith('$');

const build = (
  key: string,
  expression: streams.ReadReq.Options.FilterOptions.Expression,
  matches: LogFilter['matches'],
): LogFilter => ({
  key,
  options: new streams.ReadReq.Options.FilterOptions()
    .setStreamIdentifier(expression)
    .setMax(WINDOW)
    .setCheckpointintervalmultiplier(WINDOWS_PER_CHECKPOINT),
  matches,
});

const { Expression } = streams.ReadReq.Options.FilterOptions;

/** Filter for the prefixes of the port: undefined is everything but the server's own streams, an empty list is nothing. */
export const filterOf = (prefixes: readonly string[] | undefined): LogFilter => {
  if (prefixes === undefined || prefixes.includes('')) {
    return build('all', new Expression().setRegex(NO_SYSTEM_STREAM), isOurs);
  }
  if (prefixes.length === 0) return build('none', new Expression().setRegex(NOTHING), () => false);
  const unique = [...new Set(prefixes)].sort();
  return build(
    JSON.stringify(unique),
    new Expression().setPrefixList(unique),
    (event) => isOurs(event) && unique.some((prefix) => event.stream.startsWith(prefix)),
  );
};

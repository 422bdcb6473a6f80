import streams from '@eventstore/db-client/generated/streams_pb.js';

/** Which events of the log are wanted: asked of the server, and checked again here. */
export interface LogFilter {
  /** Equal for equal lists of prefixes. */
  readonly key: string;
  readonly options: streams.ReadReq.Options.FilterOptions;
  readonly matches: (stream: string) => boolean;
}

/** Events that the server looks at in one go. */
const WINDOW = 512;
/** Windows after which a subscription is told how far it is, so that a quiet filter is not read twice (PITFALLS 15). */
const WINDOWS_PER_CHECKPOINT = 4;

const NOTHING = '(?!)';
/** Streams of the server itself begin with $ and are nobody's business. */
const NO_SYSTEM_STREAM = '^[^$]';

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
    return build('all', new Expression().setRegex(NO_SYSTEM_STREAM), (stream) => !stream.startsWith('$'));
  }
  if (prefixes.length === 0) return build('none', new Expression().setRegex(NOTHING), () => false);
  const unique = [...new Set(prefixes)].sort();
  return build(
    JSON.stringify(unique),
    new Expression().setPrefixList(unique),
    (stream) => !stream.startsWith('$') && unique.some((prefix) => stream.startsWith(prefix)),
  );
};

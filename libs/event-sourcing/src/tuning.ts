/** Limits and rhythms of a runtime. Every value has a default that suits production; tests shorten the waits. */
export interface RuntimeTuning {
  /** Streams whose state is kept in memory, per aggregate. Default 2,000. */
  readonly cachedStreams: number;
  /** Commands that may wait on one stream; more get 503. Default 1,000. */
  readonly queuedCommands: number;
  /** Times a command is decided again after a conflict before 409. Default 10. */
  readonly maxAttempts: number;
  /** A checkpoint with nothing to write is stored after so many events at the latest. Default 1,000. */
  readonly checkpointEvents: number;
  /** And after so many ms. Default 1,000. */
  readonly checkpointMs: number;
  /** Those who follow the log take what is appended within so many ms together; the first after a pause at once. Default 25. */
  readonly gatherMs: number;
  /**
   * While the read store is away: how long a command whose events are stored tries to write its documents before it leaves them to
   * the runner, in ms. Until they are written others may not see what the caller is told. Default 8,000.
   */
  readonly projectWithinMs: number;
  /** What reactors with a head start leave to whoever began it, in ms; then they do it. Default 1,000. */
  readonly headStartMs: number;
  /** How often another process's rebuild is looked for, in ms. Default 1,000. */
  readonly generationPollMs: number;
  /** How long a replaced generation stays readable for other processes, in ms. Default 5,000. */
  readonly dropAfterMs: number;
  /** Events that a rebuild folds before it writes. Default 500: the event loop turns in between. */
  readonly rebuildChunk: number;
  /** Term of the leases of publishers, reactors and rebuilds, in ms. Default 15,000. */
  readonly leaseMs: number;
  /** First and longest wait after a failure of a projection, publisher or reactor, in ms. Default 100 and 60,000. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** Failures in a row after which a projection counts as failed and a reactor's stream as parked. Default 5. */
  readonly failuresUntilAlarm: number;
  /** While a reactor has parked streams: how often it looks whether one is to be tried now, in ms. Default 500. */
  readonly wishPollMs: number;
  /** Longest reaction to one event, in ms. Default 30,000. */
  readonly reactionMs: number;
}

export const defaultTuning: RuntimeTuning = {
  cachedStreams: 2000,
  queuedCommands: 1000,
  maxAttempts: 10,
  checkpointEvents: 1000,
  checkpointMs: 1000,
  gatherMs: 25,
  projectWithinMs: 8000,
  headStartMs: 1000,
  generationPollMs: 1000,
  dropAfterMs: 5000,
  rebuildChunk: 500,
  leaseMs: 15_000,
  backoffMs: 100,
  maxBackoffMs: 60_000,
  failuresUntilAlarm: 5,
  wishPollMs: 500,
  reactionMs: 30_000,
};

/** What a client expects of a stream: an exact revision, or one of the words. */
export type Expectation = number | 'no-stream' | 'any' | 'exists';

export type AppendOutcome =
  | { readonly kind: 'appended'; readonly revision: number; readonly position: number | undefined }
  | { readonly kind: 'conflict'; readonly current: number | undefined }
  | { readonly kind: 'tombstoned' }
  /** It repeats a write that is still on its way: the server drops it without an answer, and its time runs out. */
  | { readonly kind: 'dropped' };

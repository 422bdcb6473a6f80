/**
 * The cache cannot be asked now, or did not answer in time; what was asked for may have happened. Its users go on without
 * it (DESIGN section 10). Trying again at once is useless: adapters find out by themselves when it is back.
 */
export class CacheUnavailable extends Error {
  readonly code = 'cache.unavailable';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CacheUnavailable';
  }
}

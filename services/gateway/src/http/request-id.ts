import { randomUUID } from 'node:crypto';

const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's `X-Request-Id` when it is harmless in headers and logs, else a new one. */
export const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && acceptable.test(given) ? given : randomUUID();

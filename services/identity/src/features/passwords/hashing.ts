import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '@bindery/service-kit';

/** Hashes passwords away from the event loop, a few at a time. */
export interface PasswordHasher {
  /** @returns the hash with its parameters, in PHC string format */
  hash(password: string): Promise<string>;
  /** Against nothing when `stored` is undefined: the same work, and false. */
  verify(password: string, stored: string | undefined): Promise<boolean>;
  /** Made with other parameters than new ones are. */
  isOutdated(stored: string): boolean;
}

/** What a hash costs: KiB of memory and passes over it. */
export interface HashCost {
  readonly memory: number;
  readonly passes: number;
}

/** OWASP's choice for argon2id: 19 MiB, two passes, one lane; about 50 ms on one core. */
const usualCost: HashCost = { memory: 19_456, passes: 2 };
const parallelism = 1;
const saltBytes = 16;
const tagBytes = 32;

/** Two of libuv's four threads: the others stay free for files and names. At most 2 x 19 MiB. */
const atOnce = 2;
/** Who comes when so many wait is sent away: at 25 ms each, waiting longer than a second helps nobody. */
const maxWaiting = 40;

const derive = promisify(argon2) as (algorithm: 'argon2id', parameters: Argon2Parameters) => Promise<Buffer>;
const format = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');
/** What people type differently and mean the same is the same (NIST SP 800-63B, 3.1.1.2). */
const bytesOf = (password: string): Buffer => Buffer.from(password.normalize('NFKC'));

/**
 * Passwords as argon2id, from Node itself: no dependency, no native build, and it runs in libuv's threads.
 * @throws Problem 503 from both functions when too many wait
 */
export const createPasswordHasher = ({ memory, passes }: HashCost = usualCost): PasswordHasher => {
  const prefix = `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$`;
  /** Something to work on when there is no account; no password has this hash. */
  const nobody = `${prefix}${'A'.repeat(22)}$${'A'.repeat(43)}`;
  let running = 0;
  const waiting: (() => void)[] = [];

  const slot = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (waiting.length >= maxWaiting)
        throw new Problem('unavailable', 'sign_in.busy', 'Too many people sign in at once; try again.', {
          retryAfter: 2,
        });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The place is handed on: nobody can slip in between.
      if (next === undefined) running -= 1;
      else next();
    }
  };

  return {
    async hash(password) {
      const nonce = randomBytes(saltBytes);
      const message = bytesOf(password);
      const tag = await slot(() =>
        derive('argon2id', { message, nonce, tagLength: tagBytes, memory, passes, parallelism }),
      );
      return `${prefix}${base64(nonce)}$${base64(tag)}`;
    },
    async verify(password, stored) {
      const [, m, t, p, salt = '', expected = ''] = format.exec(stored ?? nobody) ?? [];
      if (m === undefined) throw new Error('a stored password hash is not in the format that is written');
      const parameters = {
        message: bytesOf(password),
        nonce: Buffer.from(salt, 'base64'),
        tagLength: tagBytes,
        memory: Number(m),
        passes: Number(t),
        parallelism: Number(p),
      };
      const tag = await slot(() => derive('argon2id', parameters));
      return timingSafeEqual(tag, Buffer.from(expected, 'base64')) && stored !== undefined;
    },
    isOutdated: (stored) => !stored.startsWith(prefix),
  };
};

import { type Metadata, status } from '@grpc/grpc-js';
import { Faults, failure } from './faults.ts';
import type { ReadRequest } from './read-request.ts';

export interface User {
  readonly password: string;
  /** Whether $all is readable, as for administrators and whom the access list of $all names. Default true. */
  readonly readsAll?: boolean;
}

/** Who may call a double: everybody as long as it knows no users, as a server that is started as insecure. */
export class Users {
  readonly #users: Readonly<Record<string, User>> | undefined;

  constructor(users: Readonly<Record<string, User>> | undefined) {
    this.#users = users;
  }

  /** @param read what is to be read, undefined for a write */
  refusal(metadata: Metadata, read: ReadRequest | undefined): Error | undefined {
    if (this.#users === undefined) return undefined;
    const denied = Faults.refusal('denied', { host: '', port: 0 });
    const [header] = metadata.get('authorization');
    if (header === undefined) return denied;
    const [name = '', ...password] = Buffer.from(String(header).replace(/^Basic /u, ''), 'base64')
      .toString('utf8')
      .split(':');
    const user = Object.hasOwn(this.#users, name) ? this.#users[name] : undefined;
    if (user === undefined || user.password !== password.join(':'))
      return failure(status.UNAUTHENTICATED, 'Received HTTP status code 401');
    const ofAll = read !== undefined && read.stream === undefined;
    return ofAll && user.readsAll === false ? denied : undefined;
  }
}

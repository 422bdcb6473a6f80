import type { Repository } from '@bindery/event-sourcing';
import { createRepeatedWarnings, type Logger } from '@bindery/telemetry';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import { ownMetadata, type SessionClient, type SessionContext } from '../sessions/index.ts';
import { attemptsId, type NoteFailure, type SignInFailed } from './attempts.ts';

/** Records refused attempts to sign in, after they were answered: the answer takes as long for unknown accounts. */
export interface FailureLog {
  note(
    failure: {
      readonly userId: string | undefined;
      readonly method: SignInFailed['data']['method'];
      readonly reason: string;
      readonly client: SessionClient;
    },
    context: SessionContext,
  ): void;
  /** Waits for what is being written, and says what was not. */
  settle(): Promise<void>;
}

/** What a failure's seal is bound to. */
export const failurePurpose = (failedAt: string): string => `sign-in-failure:${failedAt}`;

/** So many are written at a time; others are left out, and counted in the log. */
const maxWriting = 50;

export const createFailureLog = (deps: {
  readonly repository: Repository<{ readonly count: number }, NoteFailure, SignInFailed>;
  readonly sealer: PersonalDataSealer;
  readonly logger: Logger;
}): FailureLog => {
  const writing = new Set<Promise<void>>();
  const warnings = createRepeatedWarnings(deps.logger);
  const write = async (...[failure, context]: Parameters<FailureLog['note']>): Promise<void> => {
    const { userId, method, reason, client } = failure;
    const failedAt = context.now.toISOString();
    const sealed =
      userId === undefined
        ? {}
        : { userId, client: await deps.sealer.sealText(userId, failurePurpose(failedAt), JSON.stringify(client)) };
    const data = { ...sealed, method, reason, failedAt };
    const metadata = {
      ...ownMetadata(userId ?? 'anonymous', context),
      actor: { kind: 'service' as const, id: 'service:identity' },
    };
    await deps.repository.handle(attemptsId(userId, failedAt), { type: 'NoteFailure', data }, metadata);
  };
  return {
    note(failure, context) {
      if (writing.size >= maxWriting) {
        const { reason } = failure;
        warnings.warn('many', 'a refused attempt to sign in was not recorded: too many at once', { reason });
        return;
      }
      const work = write(failure, context)
        .catch((error: unknown) => warnings.warn('failed', 'a refused attempt to sign in was not recorded', { error }))
        .finally(() => writing.delete(work));
      writing.add(work);
    },
    async settle() {
      await Promise.all(writing);
      warnings.stop();
    },
  };
};

import { deadlineExceeded } from '../deadline.ts';
import { GivingUp } from './giving-up.ts';
import type { Answer } from './whole-answer.ts';

/** What came of asking one replica: its answer, or why another one may be asked. */
export type Tried = { readonly response: Answer } | { readonly elsewhere: unknown };

export interface Asking<R> {
  /** Whom to ask, best first. At least one. */
  readonly candidates: readonly R[];
  /** Gives up all. */
  readonly giving: GivingUp;
  /** After how long without an answer the next one is asked too, in ms. */
  readonly patienceMs: number;
  /**
   * Asks one. A rejection ends the whole.
   * @param onHead to be told that it has begun with an answer that is to be heard
   */
  readonly ask: (candidate: R, giving: GivingUp, onHead: () => void) => Promise<Tried>;
  /** Told who was too slow. @returns whether the next one may be asked beside it */
  readonly onSlow: (candidate: R) => boolean;
}

/**
 * Asks one after another, the next one as soon as the one before failed or was slow. The slow ones may still answer first; those
 * that do not are told that nobody waits any more. Only for what does no harm when it is done twice.
 */
export const besideOneAnother = <R>(asking: Asking<R>): Promise<Tried> =>
  new Promise((resolve, reject) => new Askings(asking, resolve, reject).next());

class Askings<R> {
  readonly #asking: Asking<R>;
  readonly #resolve: (tried: Tried) => void;
  readonly #reject: (error: unknown) => void;
  readonly #underWay = new Set<GivingUp>();
  #index = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Nobody else is asked beside those that are under way. */
  #patient = false;
  /** Whose answer is heard: the others are given up. */
  #heard: GivingUp | undefined;
  #isOver = false;

  constructor(asking: Asking<R>, resolve: (tried: Tried) => void, reject: (error: unknown) => void) {
    this.#asking = asking;
    this.#resolve = resolve;
    this.#reject = reject;
    // Also those whose answer still comes, for as long as there is anything to give up.
    asking.giving.once('abort', () => {
      for (const own of this.#underWay) own.because(asking.giving.reason);
      this.#heard?.because(asking.giving.reason);
    });
  }

  /** Asks the next one. */
  next(): void {
    const { candidates, giving, patienceMs, ask } = this.#asking;
    clearTimeout(this.#timer);
    const candidate = candidates[this.#index];
    if (giving.aborted || candidate === undefined) {
      this.#fail(deadlineExceeded.problem());
      return;
    }
    this.#index += 1;
    this.#patient = this.#index === candidates.length;
    const own = new GivingUp();
    this.#underWay.add(own);
    if (!this.#patient) this.#timer = setTimeout(() => this.#slow(candidate), patienceMs);
    ask(candidate, own, () => this.#hear(own)).then(
      (tried) => this.#settled(own, tried),
      (error: unknown) => this.#fail(error, own),
    );
  }

  #slow(candidate: R): void {
    if (this.#asking.onSlow(candidate)) this.next();
    else this.#patient = true;
  }

  #hear(own: GivingUp): void {
    if (this.#heard !== undefined || this.#isOver) return;
    this.#heard = own;
    this.#giveUpOthers();
  }

  #giveUpOthers(): void {
    clearTimeout(this.#timer);
    for (const own of this.#underWay) if (own !== this.#heard) own.because(deadlineExceeded.problem());
  }

  #settled(own: GivingUp, tried: Tried): void {
    this.#underWay.delete(own);
    if (this.#isOver || (this.#heard !== undefined && this.#heard !== own)) {
      // It was not heard, so what became of it is nobody's concern.
      if ('response' in tried) tried.response.body.dump().catch(() => undefined);
      return;
    }
    if ('response' in tried) {
      this.#hear(own);
      this.#isOver = true;
      this.#resolve(tried);
    } else if (this.#patient && this.#underWay.size > 0) return;
    else if (this.#index < this.#asking.candidates.length) this.next();
    else {
      this.#isOver = true;
      this.#giveUpOthers();
      this.#resolve(tried);
    }
  }

  #fail(error: unknown, own?: GivingUp): void {
    if (own !== undefined) this.#underWay.delete(own);
    if (this.#isOver || (this.#heard !== undefined && this.#heard !== own)) return;
    this.#isOver = true;
    this.#giveUpOthers();
    this.#reject(error);
  }
}

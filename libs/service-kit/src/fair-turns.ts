/** What one caller has under way. */
export interface Share {
  /** Absent: of nobody, in the course of what others have begun; as much as there are places, and before everybody else. */
  readonly caller: string | undefined;
  taken: number;
  /** Begun in this turn of the event loop. */
  begun: number;
  readonly queue: Set<() => void>;
}

/** Places that callers share, and their order when there are too few. Plain counting: no clock, no promises. */
export interface Turns {
  /** The share of a caller, new when it has none under way. Kept for as long as something of it is. */
  shareOf(caller: string | undefined): Share;
  /** Takes a place now, if this share may have one. */
  take(share: Share): boolean;
  /** Gives a place back; whoever is next is admitted, in this call. */
  give(share: Share): void;
  /** Moves a place from one share to another, if that one may have it. */
  move(from: Share, to: Share): boolean;
  mayQueue(share: Share): boolean;
  /** @param admit called once, with the place taken */
  queue(share: Share, admit: () => void): void;
  /** Takes somebody out of the queue; nothing when it is in it no more. */
  unqueue(share: Share, admit: () => void): void;
  /** Drops a share of which nothing is under way. */
  forget(share: Share): void;
  /** Whether it has all the places that it may have. */
  isOverShare(share: Share): boolean;
  /** Whether it is for what this caller itself has under way that its next one has no place: others would get one. */
  isOwnDoing(share: Share): boolean;
  readonly taken: number;
  readonly queued: number;
  readonly callers: number;
}

/**
 * Requests of one caller that are begun in one turn of the event loop. What needs no waiting for others is done within the
 * turn in which it is begun, so that hundreds that came at once would be done before anybody else is heard. A process accepts
 * one connection in each turn: long turns keep newcomers waiting. Fewer would cost those who write: what is begun in one turn is
 * stored together.
 */
const perTurn = 32;

/**
 * Shares places among callers. The table of callers needs no limit of its own: it has those of whom something is under way
 * or waits, and both are limited.
 * @param limits numbers of requests; `perCaller` bounds the places of one caller; `queue` those of callers that wait, and beside
 *   them those of nobody
 * @param nextTurn does something once this turn of the event loop is over
 */
export const createTurns = (
  limits: { readonly places: number; readonly queue: number; readonly perCaller: number },
  nextTurn: (work: () => void) => unknown,
): Turns => {
  const shares = new Map<string | undefined, Share>();
  /** Those of whom requests wait, in the order in which they began to. */
  const waiting = new Set<Share>();
  /** Those of whom some were begun in this turn. */
  let active: Share[] = [];
  let taken = 0;
  let queued = 0;
  /** Whether the place that was given last to somebody who waited went to what is nobody's. */
  let nobodysLast = false;

  const nobodysWaiting = (): number => shares.get(undefined)?.queue.size ?? 0;
  const callersWaiting = (): number => queued - nobodysWaiting();
  const isOverShare = (share: Share): boolean => {
    if (share.caller === undefined || share.taken === 0) return false;
    return share.taken >= limits.perCaller || (taken < limits.places && share.taken >= limits.places - taken);
  };
  // Without a queue there is nowhere to wait for the next turn.
  const hasTurn = ({ caller, begun }: Share): boolean => caller === undefined || begun < perTurn || limits.queue === 0;
  const mayTake = (share: Share): boolean => taken < limits.places && hasTurn(share) && !isOverShare(share);
  const mayQueue = ({ caller, queue }: Share): boolean => {
    // Callers that fill the queue do not keep out what others wait for.
    if (caller === undefined) return queue.size < limits.queue;
    const free = limits.queue - callersWaiting();
    return free > 0 && (queue.size === 0 || queue.size < free);
  };

  const count = (share: Share): void => {
    share.taken += 1;
    taken += 1;
    share.begun += 1;
    if (share.begun > 1) return;
    if (active.length === 0) nextTurn(onTurn);
    active.push(share);
  };
  const forget = (share: Share): void => {
    // What was begun in this turn counts until it is over, although it may be done.
    if (share.taken === 0 && share.queue.size === 0 && share.begun === 0) shares.delete(share.caller);
  };
  const unqueue = (share: Share, admit: () => void): void => {
    if (!share.queue.delete(admit)) return;
    queued -= 1;
    if (share.queue.size === 0) waiting.delete(share);
    forget(share);
  };

  /**
   * What is nobody's, since those who have begun wait for it, here or elsewhere: behind many callers who each have less it
   * would never be next. Of what waits for long it has every other place, so that callers are never kept out by it either.
   * Then whoever has least under way; among equals who waits longest.
   */
  const next = (): Share | undefined => {
    if (taken >= limits.places) return undefined;
    const nobodys = nobodysWaiting() > 0 ? shares.get(undefined) : undefined;
    if (nobodys !== undefined && !nobodysLast) return nobodys;
    let least: Share | undefined;
    for (const share of waiting) {
      if (share !== nobodys && (least === undefined || share.taken < least.taken) && mayTake(share)) least = share;
    }
    return least ?? nobodys;
  };
  const admitNext = (): void => {
    for (let share = next(); share !== undefined; share = next()) {
      const [admit] = share.queue;
      if (admit === undefined) return;
      nobodysLast = share.caller === undefined;
      count(share);
      unqueue(share, admit);
      // Its next one waits behind the other callers.
      if (waiting.delete(share)) waiting.add(share);
      admit();
    }
  };
  function onTurn(): void {
    const former = active;
    active = [];
    for (const share of former) {
      share.begun = 0;
      forget(share);
    }
    admitNext();
  }

  return {
    shareOf(caller) {
      const known = shares.get(caller);
      if (known !== undefined) return known;
      const share: Share = { caller, taken: 0, begun: 0, queue: new Set() };
      shares.set(caller, share);
      return share;
    },
    take(share) {
      // Its older requests go first.
      if (share.queue.size > 0 || !mayTake(share)) return false;
      count(share);
      return true;
    },
    give(share) {
      share.taken -= 1;
      taken -= 1;
      forget(share);
      admitNext();
    },
    move(from, to) {
      if (to.queue.size > 0 || isOverShare(to)) return false;
      from.taken -= 1;
      to.taken += 1;
      forget(from);
      // The one share may have become small enough for another place.
      admitNext();
      return true;
    },
    mayQueue,
    queue(share, admit) {
      share.queue.add(admit);
      waiting.add(share);
      queued += 1;
    },
    unqueue,
    forget,
    isOverShare,
    isOwnDoing(share) {
      const { caller, queue } = share;
      if (caller === undefined) return false;
      return (
        isOverShare(share) ||
        share.taken + queue.size > limits.perCaller ||
        (queue.size > 1 && callersWaiting() < limits.queue && !mayQueue(share))
      );
    },
    get taken() {
      return taken;
    },
    get queued() {
      return queued;
    },
    get callers() {
      return shares.size;
    },
  };
};

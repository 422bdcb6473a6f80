/** An administrator has asked that something goes on that was set aside because it could not be handled. */
export interface RecoveryAsked {
  readonly type: 'RecoveryAsked';
  readonly data: {
    readonly kind: 'parked-key' | 'parked-stream';
    readonly service: string;
    /** Consumer group or reactor. */
    readonly owner: string;
    readonly topic?: string;
    /** Key or stream. */
    readonly target: string;
    /** How often it had been tried before. */
    readonly attempts: number;
  };
}

/** An administrator has asked that a message that cannot be handled is given up, so that those behind it go on. */
export interface DiscardAsked {
  readonly type: 'DiscardAsked';
  readonly data: {
    readonly kind: 'parked-key';
    readonly service: string;
    /** Consumer group. */
    readonly owner: string;
    readonly topic: string;
    /** Key. */
    readonly target: string;
    readonly attempts: number;
    readonly partition: number;
    readonly offset: string;
    /** In the words of whoever asked. */
    readonly reason: string;
  };
}

/** An administrator has asked that a key is forgotten whose messages are gone. */
export interface ForgetAsked {
  readonly type: 'ForgetAsked';
  readonly data: {
    readonly kind: 'parked-key';
    readonly service: string;
    /** Consumer group. */
    readonly owner: string;
    readonly topic: string;
    /** Key. */
    readonly target: string;
    readonly attempts: number;
    /** How many there were. */
    readonly letters: number;
    /** Since when the key had waited. */
    readonly since: string;
    /** In the words of whoever asked. */
    readonly reason: string;
  };
}

export type RecoveryEvent = RecoveryAsked | DiscardAsked | ForgetAsked;

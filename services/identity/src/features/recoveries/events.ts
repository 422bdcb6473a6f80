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

export type RecoveryEvent = RecoveryAsked;

/** Refused attempts of one kind, added up over a minute at most. Of a person's address only what is sealed under its key. */
export interface AccessDenied {
  readonly type: 'AccessDenied';
  readonly data: {
    /** 401: nobody was recognised. 403: somebody may not. */
    readonly status: '401' | '403';
    /** Code of the refusal. */
    readonly code: string;
    /** Id of the operation, `various` when an attacker tried too many different ones to list. */
    readonly operation: string;
    /** User id; `anonymous` when nobody was recognised. */
    readonly actorId: string;
    readonly tokenId?: string;
    readonly origin?: string;
    /** Where an unknown caller is, as coarse as /24 and /48. */
    readonly network?: string;
    readonly organizationId?: string;
    readonly targetType: string;
    readonly targetId: string;
    readonly count: number;
    readonly firstAt: string;
    readonly lastAt: string;
  };
}

export type DenialEvent = AccessDenied;

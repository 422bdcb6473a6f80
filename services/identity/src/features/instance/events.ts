/** The first start is complete: there is an administrator and an organization. */
export interface InstanceInitialized {
  readonly type: 'InstanceInitialized';
  readonly data: {
    readonly administratorId: string;
    readonly organizationId: string;
    readonly initializedAt: string;
  };
}

export type InstanceEvent = InstanceInitialized;

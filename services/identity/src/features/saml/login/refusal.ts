/**
 * Why an answer of an identity provider is refused: a stable word for the log, the audit trail and events. The person who
 * tried, and whoever forged it, learns nothing of it.
 */
export type RefusalReason =
  | 'form'
  | 'encoding'
  | 'too-large'
  | 'markup'
  | 'structure'
  | 'duplicate-id'
  | 'assertions'
  | 'unsigned'
  | 'algorithm'
  | 'signature'
  | 'issuer'
  | 'destination'
  | 'status'
  | 'relay-state'
  | 'in-response-to'
  | 'recipient'
  | 'audience'
  | 'time'
  | 'authentication'
  | 'replay'
  | 'email'
  | 'domain'
  | 'account'
  | 'browser';

/** An answer that is not believed. Never carries anything of the answer itself. */
export class SamlRefusal extends Error {
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason) {
    super(`SAML response refused: ${reason}`);
    this.reason = reason;
  }
}

/** @throws SamlRefusal unless it holds */
export const demand = (holds: boolean, reason: RefusalReason): void => {
  if (!holds) throw new SamlRefusal(reason);
};

import { invalid, type Problem } from '@bindery/service-kit';

/** A change that cannot be applied. @param field where, `changes[2].into` */
export const fault = (code: string, field: string, message: string): Problem =>
  invalid(`content_change.${code}`, `body.${field}: ${message}`);

export { type AsyncApiDocument, type AsyncApiOptions, buildAsyncApi } from './document.ts';
export { createPublicEventCheck, PublicEventInvalid, validatePublicEvent } from './validate.ts';

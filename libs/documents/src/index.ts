export * from './markdown/front-matter.ts';
export type { DocumentStyle, LinkContext, ResolveLink } from './markdown/parse/context.ts';
export * from './markdown/parse/index.ts';
export type { ResolveRef } from './markdown/write/context.ts';
export * from './markdown/write/index.ts';
export { assignKeys } from './model/keys.ts';

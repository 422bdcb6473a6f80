export { defaultBounds, readSpecification } from './read.ts';
export {
  createSpecificationReader,
  type SpecificationReader,
  type SpecificationReaderOptions,
} from './reader.ts';
export type { ReadBounds, ReadErrorCode, Reading, SpecificationError } from './types.ts';

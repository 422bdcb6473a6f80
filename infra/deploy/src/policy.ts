import type { Resource } from './manifests.ts';

/** A rule that manifests must keep. */
export interface Policy {
  readonly name: string;
  /** @param all what is applied together. @returns what is wrong, each with the name of the resource */
  check(all: readonly Resource[]): readonly string[];
}

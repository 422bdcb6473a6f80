import type { CollectionSpec } from '@bindery/read-store';
import { shortOf } from '../keys.ts';

/** References and anchors of one body, as text: others wrote what is in it. Id: `<space>:<document>`. */
export const linkBodiesSpec: CollectionSpec = { name: 'content.link_bodies', version: 1, indexes: [] };
export interface LinkBodyDocument {
  /** JSON of `BodyLinks`. */
  readonly json: string;
}

/** A target's key and, where known, the block that links to it. */
export type StoredLink = readonly [key: string, node?: string];

/**
 * What the primary content of a space has now. Id: `<space>/<location>`, where a location is `p/<page>`,
 * `c/<reusable content>` or `f/<file>`.
 */
export const linkSourcesSpec: CollectionSpec = { name: 'content.link_sources', version: 1, indexes: [] };
export interface LinkSourceDocument {
  readonly parent?: string | null;
  /** Pages below, in no order. */
  readonly below?: readonly string[];
  readonly anchors?: readonly string[];
  /** Where a link page leads. */
  readonly to?: readonly StoredLink[];
  /** Links of the metadata: cover and the like. */
  readonly own?: readonly StoredLink[];
  /** Links of its body. */
  readonly body?: readonly StoredLink[];
}

/** One link: a location and a target. Id: `<space>/<location>/<short key>`. */
export const linksSpec: CollectionSpec = {
  name: 'content.links',
  version: 1,
  indexes: [
    { name: 'by_target', fields: ['spaceId', 'target', 'location'] },
    { name: 'by_resource', fields: ['resource', 'spaceId', 'location'] },
  ],
};
export interface LinkDocument {
  readonly spaceId: string;
  readonly location: string;
  /** `placeOf` its key. */
  readonly target: string;
  /** Key of the page or file that is linked to; absent for other targets and for what links to itself. */
  readonly resource?: string;
  readonly node?: string;
}

/** One target of a space. Id: `<space>/<short key>`. */
export const linkTargetsSpec: CollectionSpec = {
  name: 'content.link_targets',
  version: 1,
  indexes: [
    { name: 'by_place', fields: ['spaceId', 'target'] },
    { name: 'by_state', fields: ['spaceId', 'state', 'target'] },
  ],
};
export interface LinkTargetDocument {
  readonly spaceId: string;
  readonly key: string;
  readonly target: string;
  /** `ok` and `broken` are for targets in the space itself; whether `outside` ones exist is found out when asked. */
  readonly state: 'ok' | 'broken' | 'url' | 'outside';
  /** How many locations link to it. */
  readonly uses: number;
}

export const sourceId = (spaceId: string, location: string): string => `${spaceId}/${location}`;
export const targetId = (spaceId: string, key: string): string => `${spaceId}/${shortOf(key)}`;
export const pageLocation = (pageId: string): string => `p/${pageId}`;
export const contentLocation = (contentId: string): string => `c/${contentId}`;
export const fileLocation = (fileId: string): string => `f/${fileId}`;

/** All links of a location, in reading order. */
export const linksOf = (source: LinkSourceDocument | undefined): readonly StoredLink[] => [
  ...(source?.to ?? []),
  ...(source?.own ?? []),
  ...(source?.body ?? []),
];

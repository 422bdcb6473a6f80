import type { Projection } from '@bindery/event-sourcing';
import { purgedBy, type RevisionSource } from '../../revisions/index.ts';
import { type BodyLinks, linksOfDocument } from '../outgoing.ts';
import { type LinkBodyDocument, linkBodiesSpec, linkSourcesSpec, linksSpec, linkTargetsSpec } from './collections.ts';
import { LinksDraft } from './draft.ts';
import { applyToLinks } from './fold.ts';

/** Name of the view, to wait for it. */
export const linksProjectionName = 'links';

const none: BodyLinks = { refs: [], anchors: [] };

/**
 * What the primary contents of spaces link to. Bodies are read where they come, which is often on the branch of a change
 * request; the locations are those of the primary lines. It needs nothing but its own collections, so that it can be
 * rebuilt alone.
 * @param primary the aggregate whose revisions are the primary lines
 */
export const linksProjection = (sources: readonly RevisionSource[], primary: string): Projection => ({
  name: linksProjectionName,
  mode: 'async',
  aggregates: sources.map(({ aggregate }) => aggregate),
  handles: sources.flatMap(({ handles }) => handles),
  collections: [linkBodiesSpec, linkSourcesSpec, linksSpec, linkTargetsSpec],
  async apply(event, reader) {
    const source = sources.find(({ aggregate }) => event.stream.startsWith(`${aggregate}-`));
    const gone = purgedBy(sources, event);
    if (gone !== undefined) {
      const draft = new LinksDraft(reader, event.position, gone.spaceId);
      const input = { draft, spaceId: gone.spaceId, body: async () => none };
      for (const change of gone.deleted ?? []) await applyToLinks(input, change);
      const bodies = (gone.documents ?? []).map((id) => ({
        collection: linkBodiesSpec,
        write: { kind: 'remove' as const, id: `${gone.spaceId}:${id}`, revision: event.position },
      }));
      return [...bodies, ...draft.writes()];
    }
    const piece = source?.read(event);
    if (source === undefined || piece === undefined) return [];
    const { spaceId } = piece;
    const fresh = new Map(piece.documents.map(({ id, document }) => [id, linksOfDocument(document)]));
    const bodies = [...fresh]
      .filter(([, { refs, anchors }]) => refs.length + anchors.length > 0)
      .map(([id, links]) => ({
        collection: linkBodiesSpec,
        write: {
          kind: 'put' as const,
          id: `${spaceId}:${id}`,
          revision: event.position,
          document: { json: JSON.stringify(links) } satisfies LinkBodyDocument,
        },
      }));
    if (source.aggregate !== primary) return bodies;
    const draft = new LinksDraft(reader, event.position, spaceId);
    const body = async (id: string): Promise<BodyLinks> => {
      const here = fresh.get(id);
      if (here !== undefined) return here;
      const json = (await reader.get<LinkBodyDocument>(linkBodiesSpec, `${spaceId}:${id}`))?.json;
      return json === undefined ? none : JSON.parse(json);
    };
    for (const change of piece.changes) await applyToLinks({ draft, spaceId, body }, change);
    return [...bodies, ...draft.writes()];
  },
});

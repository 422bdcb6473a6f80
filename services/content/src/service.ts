import { setTimeout as delay } from 'node:timers/promises';
import { validatePublicEvent } from '@bindery/contracts';
import { createParkedWork, createServiceRuntime, streamOf } from '@bindery/event-sourcing';
import {
  createCursorCodec,
  createIdSource,
  createInProcessClient,
  createLateClient,
  eraseHandlers,
  type HandlersFor,
  type Service,
} from '@bindery/service-kit';
import { createBackground } from './background.ts';
import { accessProjections, accessReactors, createContentAccess } from './content-access.ts';
import type { ContentOperations, ContentOptions } from './content-options.ts';
import { createTransfers, transferProjections } from './content-transfers.ts';
import { contentAuditProjection, createAuditHandlers } from './features/audit/index.ts';
import {
  changeRequestAggregate,
  changeRequestReactors,
  changeRequestsProjection,
  createChangeRequestHandlers,
  createChangeRequestLookup,
  createMergePolicy,
  createMerging,
  createSerial,
  openChangeRequests,
  planTemplate,
  presentChangeRequest,
  purgeContent,
  revisionSources,
} from './features/change-requests/index.ts';
import {
  commentAggregate,
  commentersProjection,
  commentsProjection,
  countOpenComments,
  createCommentsFeature,
  createOpenComments,
  openComments as openCommentsCollection,
  purgeComments,
} from './features/comments/index.ts';
import {
  createFileDownloads,
  createFileHandlers,
  createFileIngest,
  createFileLinks,
  type RawRoute,
} from './features/files/index.ts';
import { createGitFeature, gitProjections, gitRevisionSource, gitSyncAggregate } from './features/git/index.ts';
import { createImportRunFeature, importRunAggregate, importRunProjections } from './features/import-runs/index.ts';
import { createLinksFeature, linksProjection } from './features/links/index.ts';
import { createOpenAPIFeature, openapiProjections, openapiSpecAggregate } from './features/openapi/index.ts';
import {
  createLocate,
  createPageHandlers,
  createReusableContentHandlers,
  createRevisionHandlers,
} from './features/pages/index.ts';
import { contentPublicMapping } from './features/public-events.ts';
import { createReviewsFeature, postReviewComments, reviewsProjection } from './features/reviews/index.ts';
import {
  createRevisionReader,
  createTreeCache,
  documentsProjection,
  revisionsProjection,
} from './features/revisions/index.ts';
import {
  createIndexChanges,
  createSearchFeeder,
  createSearchHandlers,
  openSearchRebuilds,
} from './features/search/index.ts';
import {
  createChangeRequestCounts,
  createSpaceHandlers,
  openSpaces,
  spaceAggregate,
  spacesProjection,
} from './features/spaces/index.ts';
import type { UploadRoute } from './features/storage/index.ts';
import { applyTemplateToSpace } from './features/templates/index.ts';

export type { ContentOptions } from './content-options.ts';

/** The content service, and the routes outside the JSON contract that the gateway mounts for it. */
export type ContentService = Service & { readonly rawRoutes: readonly (RawRoute | UploadRoute)[] };

/** So long a start waits for the search index; one that takes longer is fed while the process says that it is not ready. */
const feedWithinMs = 2000;

/** Spaces and everything in them. Nothing runs before `start`. */
export const createContentService = (options: ContentOptions): ContentService => {
  const { ports, blobStore, searchIndex, fetchGuard, cursorSecret } = options;
  const { cache, clock, eventStore } = ports;
  const logger = ports.telemetry.logger.child({ service: 'content' });
  const cursors = createCursorCodec(cursorSecret);
  const trees = createTreeCache();

  const runtime = createServiceRuntime({
    service: 'content',
    ports,
    projections: [
      contentAuditProjection,
      spacesProjection,
      ...accessProjections,
      changeRequestsProjection,
      ...gitProjections,
      revisionsProjection([...revisionSources, gitRevisionSource], (id) => trees.get(id)?.tree),
      documentsProjection([...revisionSources, gitRevisionSource]),
      linksProjection([...revisionSources, gitRevisionSource], spaceAggregate.name),
      commentsProjection,
      commentersProjection,
      reviewsProjection,
      ...openapiProjections,
      ...transferProjections,
      ...importRunProjections,
    ],
    reactors: [
      ...accessReactors(() => contentAccess.reactorDeps),
      ...changeRequestReactors(() => merging),
      purgeContent(() => ({ spaceRepository, reader, changeRequests, live: runtime.live })),
      purgeComments(() => commenting),
      postReviewComments(() => ({ ...commenting, counts: { changeRequest: openComments.changed } })),
    ],
    publicMapping: contentPublicMapping(spaceAggregate.name, changeRequestAggregate.name, commentAggregate.name),
    validatePublic: validatePublicEvent,
    ...(options.tuning ? { tuning: options.tuning } : {}),
  });
  const spaceRepository = runtime.repository(spaceAggregate);
  const repository = runtime.repository(changeRequestAggregate);
  const spaces = openSpaces(runtime.live);
  const changeRequests = openChangeRequests(runtime.live);
  const lookup = createChangeRequestLookup(changeRequests);
  const reader = createRevisionReader({
    live: runtime.live,
    trees,
    async repair(spaceId, changeRequestId) {
      await runtime.repair(streamOf(spaceAggregate, spaceId));
      await runtime.repair(streamOf(changeRequestAggregate, changeRequestId));
    },
  });
  const comments = openCommentsCollection(runtime.live);
  const openComments = createOpenComments(cache, comments);
  const counts = createChangeRequestCounts({
    cache,
    count: async (id) => ({
      ...(await lookup.counts(id)),
      comments: await countOpenComments(comments, id),
      synced: (await git.metadata.ofSpaces([id])).size > 0,
      imported: await imports.anyInto(id),
    }),
  });
  const contentAccess = createContentAccess({ runtime, ports, spaces, spaceRepository });
  const { access, placement } = contentAccess;
  const levelsOf = contentAccess.levelsOf(options.services);
  const merging = { repository, spaceRepository, reader, counts };
  const commenting = { comments, repository: runtime.repository(commentAggregate) };

  const links = createFileLinks(cursorSecret);
  const transfers = createTransfers({
    ...{ access, reader, cursors, cache, clock, logger, spaceRepository, spaces, changeRequests: lookup },
    ...{ runtime, blobs: blobStore, fetch: fetchGuard, secret: cursorSecret, repository, counts, fileLinks: links },
    ...options.transfers,
  });
  const files = createFileIngest({ blobs: blobStore, fetch: fetchGuard, uploads: transfers.uploads });
  const locate = createLocate({
    ...{ access, reader, changeRequests: lookup },
    latestSpec: (organizationId, slug) => openapi.latest(organizationId, slug),
  });
  const feeder = createSearchFeeder({
    eventStore,
    index: searchIndex,
    spaces,
    clock,
    logger,
    prefix: streamOf(spaceAggregate, ''),
    rebuilds: openSearchRebuilds(ports.readStore, () => createIdSource().id()),
    ...(options.searchWatchMs === undefined ? {} : { watchMs: options.searchWatchMs }),
    changes: createIndexChanges({ reader, spaces, repair: (id) => runtime.repair(streamOf(spaceAggregate, id)) }),
  });
  const git = createGitFeature({
    ...{ access, reader, counts, cache, clock, logger, spaceRepository },
    ...{ live: runtime.live, blobs: blobStore, fetch: fetchGuard },
    repository: runtime.repository(gitSyncAggregate),
    ...options.git,
  });
  const openapi = createOpenAPIFeature({
    ...{ access, cursors, clock, logger, live: runtime.live, blobs: blobStore, fetch: fetchGuard },
    repository: runtime.repository(openapiSpecAggregate),
    secret: cursorSecret,
    ...options.openapi,
  });
  const repair = (id: string) => runtime.repair(streamOf(changeRequestAggregate, id));
  const policy = createMergePolicy({ services: options.services, levelsOf });
  const imports = createImportRunFeature({
    ...{ access, reader, cache, clock, cursors, logger, spaceRepository, spaces },
    ...{ counts, files, levelsOf, policy, repair },
    ...{ live: runtime.live, blobs: blobStore, fetch: fetchGuard, changeRequests: lookup },
    repository: runtime.repository(importRunAggregate),
    changeRequestRepository: repository,
    merging: createMerging(merging, createSerial()),
    uploads: transfers.uploads,
    ...options.imports,
  });
  const background = createBackground({ ...merging, spaces, changeRequests, clock, logger }, options);

  const commentsFeature = createCommentsFeature({
    ...commenting,
    ...{ runtime, eventStore, live: runtime.live },
    access,
    reader,
    cursors,
    changeRequests: lookup,
    counts: { space: counts.changed, changeRequest: openComments.changed },
  });
  const spaceDeps = {
    access,
    placement,
    repository: spaceRepository,
    spaces,
    counts,
    cursors,
    reader,
    services: options.services,
    gitSync: git.metadata.ofSpaces,
    imports: imports.ofSpace,
    template: planTemplate,
  };
  const own = createLateClient();
  const handlers: HandlersFor<ContentOperations> = {
    ...commentsFeature.handlers,
    ...createAuditHandlers(runtime, ports),
    ...git.handlers,
    ...openapi.handlers,
    ...imports.handlers,
    ...transfers.handlers,
    ...createSpaceHandlers(spaceDeps),
    ...contentAccess.handlers(spaceDeps),
    ...createRevisionHandlers({
      locate,
      git: git.metadata,
      presentFile: links.represent,
      async changeRequest({ baseUrl }, spaceId, id) {
        const [found, space] = await Promise.all([lookup.find(spaceId, id), spaces.get(spaceId)]);
        const open = found === undefined ? 0 : await openComments.of(found.id);
        return found && presentChangeRequest(baseUrl, found.document, space?.document.revision ?? '', open);
      },
    }),
    ...createPageHandlers(locate),
    ...createReusableContentHandlers(locate),
    ...createFileHandlers({ locate, links, cursors }),
    applyTemplateToSpace: applyTemplateToSpace({ access, own: own.client }),
    ...createLinksFeature({
      ...{ access, reader, spaces, runtime, eventStore, cursors, live: runtime.live, fileLinks: links },
      ...{ own: own.client, services: options.services },
    }).handlers,
    ...createSearchHandlers({ access, index: searchIndex, feeder, spaces, cursors }),
    ...createReviewsFeature({
      ...{ access, repository, cursors, levelsOf, live: runtime.live, services: options.services },
      changeRequests: lookup,
      comments: commentsFeature.reviews,
    }).handlers,
    ...createChangeRequestHandlers({
      ...merging,
      access,
      spaces,
      changeRequests,
      cursors,
      openComments,
      commenters: commentsFeature.commenters,
      ...{ repair, policy, imports: imports.ofChangeRequest },
      files,
      fileLinks: links,
    }),
  };

  const downloads = createFileDownloads({
    links,
    blobs: blobStore,
    logger,
    spaceExists: async (id) => (await spaces.get(id))?.document.deleted === false,
  });

  const erased = eraseHandlers(handlers);
  own.bind(createInProcessClient(erased));

  return {
    name: 'content',
    handlers: erased,
    rawRoutes: [downloads, openapi.rawRoute, ...transfers.rawRoutes],
    async start() {
      await runtime.start();
      contentAccess.consumer.start();
      feeder.start();
      await Promise.race([feeder.becameReady, delay(feedWithinMs, undefined, { ref: false })]);
      background.start();
      git.start();
      openapi.start();
      transfers.start();
      imports.start();
    },
    async stop() {
      await imports.stop();
      await transfers.stop();
      await openapi.stop();
      await git.stop();
      await background.stop();
      await feeder.stop();
      await contentAccess.consumer.stop();
      await runtime.stop();
    },
    notReady: () => [...runtime.notReady(), ...(feeder.ready() ? [] : ['the search index is being fed'])],
    async status() {
      const [status, search] = await Promise.all([runtime.status(), feeder.status()]);
      return { ...status, projections: [...status.projections, search] };
    },
    async rebuild(projections) {
      const started = performance.now();
      const others = projections?.filter((name) => name !== 'search');
      const rebuilt = others === undefined || others.length > 0 ? await runtime.rebuild(others) : undefined;
      // The search index is fed from the read models, so that it comes after them.
      if (others === undefined || others.length < (projections?.length ?? 0)) await feeder.rebuild();
      return { events: rebuilt?.events ?? 0, durationMs: performance.now() - started };
    },
    parked: createParkedWork({
      ...{ memberships: [contentAccess.consumer], streams: runtime.parkedStreams, validatePublic: validatePublicEvent },
    }),
  };
};

import { limits, type storageOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { type HandlersFor, invalid, type Principal } from '@bindery/service-kit';
import { repeating } from '../../repeating.ts';
import type { StorageDeps } from './deps.ts';
import { checkKind, checkSize } from './kinds.ts';
import { createUploadLinks, keyInAddress } from './links.ts';
import { purgeUploads } from './purge.ts';
import { openStorageUploads } from './read-model.ts';
import { createUploadRoute, type UploadRoute, uploadHeadBytes } from './receive.ts';

export { storageUploadAggregate } from './aggregate.ts';
export type { StorageUploadEvent, UploadKind } from './events.ts';
export { storagePublicEvents } from './public-events.ts';
export { storageUploadsProjection } from './read-model.ts';
export type { UploadRoute } from './receive.ts';

/** A file that a caller uploaded before. */
export interface UploadedFile {
  readonly key: string;
  readonly name: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** The bytes; each call reads them anew. @throws Error when they were deleted meanwhile */
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** Uploads of members, and what others do with them. */
export interface StorageFeature {
  readonly handlers: HandlersFor<typeof storageOperations>;
  readonly rawRoute: UploadRoute;
  /**
   * The upload with a key.
   * @returns undefined when there is none that this principal uploaded to this organization and that is still kept
   */
  find(key: string, organizationId: string, principal: Pick<Principal, 'id'>): Promise<UploadedFile | undefined>;
  /** The key in the address of an upload; undefined for any other address. */
  keyIn(baseUrl: string, address: string): string | undefined;
  start(): void;
  stop(): Promise<void>;
}

const defaultPurgeMs = 60_000;

export const createStorageFeature = (deps: StorageDeps): StorageFeature => {
  const { access, repository, blobs, clock, logger } = deps;
  const uploads = openStorageUploads(deps.live);
  const links = createUploadLinks(deps.secret);
  const purging = repeating({
    name: 'purging uploads',
    everyMs: deps.purgeMs ?? defaultPurgeMs,
    work: (signal) => purgeUploads(deps, uploads, signal),
    logger,
  });

  return {
    handlers: {
      async generateStorageUploadURL(context, { params: { organizationId }, body: { file, kind } }) {
        access.organization(context, organizationId, 'edit');
        checkSize(kind, file.size);
        const declared = file.type.split(';')[0]?.trim().toLowerCase() ?? '';
        if (!/^[\w.+-]+\/[\w.+-]+$/.test(declared))
          throw invalid('storage.wrong_type', 'body.file.type: is not a media type.');
        checkKind(kind, declared, 'body.file.type');
        if (!file.name.isWellFormed() || /^\s*$|^\.{1,2}$/.test(file.name))
          throw invalid('storage.wrong_name', 'body.file.name: is not a file name.');
        const uploader = context.principal.id;
        const { perMember, validMinutes } = limits.storage;
        if ((await uploads.count({ uploader, organizationId, active: true })) >= perMember)
          throw invalid(
            'storage.too_many',
            `${perMember} uploads are kept for you already; each goes after ${limits.storage.keptHours} hours.`,
          );
        const data = {
          key: context.ids.id(),
          organizationId,
          uploader,
          kind,
          name: file.name.trim(),
          contentType: file.type,
          size: file.size,
          requestedAt: context.now.toISOString(),
          expiresAt: new Date(context.now.getTime() + validMinutes * 60_000).toISOString(),
        };
        const command = { type: 'RequestStorageUpload', data } as const;
        await repository.handle(data.key, command, commandMetadata(context, organizationId), { likelyNew: true });
        const url = links.address(context.baseUrl, data.key);
        return { status: 201, body: { object: 'storage-signed-url', url, key: data.key } };
      },
    },
    rawRoute: createUploadRoute(deps, links),
    async find(key, organizationId, principal) {
      const { state } = await repository.load(key);
      if (state.status !== 'stored' || state.keptUntil <= clock.now().toISOString()) return undefined;
      if (state.organizationId !== organizationId || state.uploader !== principal.id) return undefined;
      const { name, size, bytes } = state;
      return {
        key,
        name,
        size,
        contentType: bytes.contentType,
        async open() {
          const blob = await blobs.get(bytes.blob, { start: uploadHeadBytes, end: uploadHeadBytes + size - 1 });
          if (blob === undefined) throw new Error(`the bytes of upload ${key} are gone`);
          return blob.body;
        },
      };
    },
    keyIn: keyInAddress,
    start: () => purging.start(),
    async stop() {
      await purging.stop();
    },
  };
};

import { specification } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import { type StorageUploadCommand, storageUploadDecider } from './decider.ts';
import type { StorageUploadEvent, UploadRequest } from './events.ts';
import { createUploadLinks, keyInAddress } from './links.ts';

const upload = specification(storageUploadDecider);
const at = '2026-01-01T00:00:00.000Z';
const end = '2026-01-01T00:15:00.000Z';
const request: UploadRequest = {
  ...{
    key: 'k1',
    organizationId: 'o1',
    uploader: 'u1',
    kind: 'import_file',
    name: 'a.md',
    contentType: 'text/markdown',
  },
  ...{ size: 3, requestedAt: at, expiresAt: end },
};
const requested: StorageUploadEvent = { type: 'StorageUploadRequested', data: request };
const bytes = { blob: 'aa', contentType: 'text/markdown', keptUntil: '2026-01-02T00:00:00.000Z' };
const store = (uploadedAt = at): StorageUploadCommand => ({ type: 'StoreUpload', data: { ...bytes, uploadedAt } });
const stored: StorageUploadEvent = {
  type: 'StorageFileUploaded',
  data: { key: 'k1', organizationId: 'o1', kind: 'import_file', size: 3, uploadedBy: 'u1', uploadedAt: at, ...bytes },
};
const purge = (purgedAt: string): StorageUploadCommand => ({ type: 'PurgeUpload', data: { purgedAt } });
const purged = (purgedAt: string): StorageUploadEvent => ({
  type: 'StorageUploadPurged',
  data: { key: 'k1', organizationId: 'o1', purgedAt },
});

describe('an upload', () => {
  test('is asked for once, and a repeat is quiet', () => {
    upload.given([]).when({ type: 'RequestStorageUpload', data: request }).thenEvents([requested]);
    upload.given([requested]).when({ type: 'RequestStorageUpload', data: request }).thenNothing();
    const stranger = { ...request, uploader: 'u2' };
    upload.given([requested]).when({ type: 'RequestStorageUpload', data: stranger }).thenRefuses('storage.exists');
  });
  test('takes its bytes once, and in time', () => {
    upload.given([requested]).when(store()).thenEvents([stored]);
    upload.given([requested, stored]).when(store()).thenRefuses('storage.used');
    upload.given([requested]).when(store(end)).thenRefuses('storage.expired');
    upload.given([]).when(store()).thenRefuses('storage.expired');
    upload
      .given([requested, purged(end)])
      .when(store())
      .thenRefuses('storage.expired');
  });
  test('goes when its time has come, and not before', () => {
    upload.given([requested]).when(purge(at)).thenNothing();
    upload
      .given([requested])
      .when(purge(end))
      .thenEvents([purged(end)]);
    upload.given([requested, stored]).when(purge(end)).thenNothing();
    upload
      .given([requested, stored])
      .when(purge(bytes.keptUntil))
      .thenEvents([purged(bytes.keptUntil)]);
    upload
      .given([requested, purged(end)])
      .when(purge(end))
      .thenNothing();
  });
});

describe('addresses of uploads', () => {
  const links = createUploadLinks('a secret for tests only');
  const base = 'https://docs.example.org';

  test('are read back, and nothing else is', () => {
    const address = links.address(base, 'k1');
    const target = address.slice(base.length);
    expect(links.read(target)).toBe('k1');
    expect(keyInAddress(base, address)).toBe('k1');
    const others = [target.replace('k1', 'k2'), `${target}x`, target.slice(0, -1), '/~storage/k1', '', 'x'.repeat(600)];
    for (const other of others) expect(links.read(other)).toBeUndefined();
    expect(keyInAddress(base, address.replace('docs', 'evil'))).toBeUndefined();
    expect(createUploadLinks('another secret for tests').read(target)).toBeUndefined();
  });
});

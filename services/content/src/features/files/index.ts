export { checkContent, headBytes } from './content-check.ts';
export { createFileDownloads, type RawRoute } from './downloads.ts';
export { createFileIngest, type FileIngest, type FileIngestDeps, type FileInput, type Uploads } from './ingest.ts';
export { createFileLinks, type FileLinks, type FileTicket, filesPrefix } from './links.ts';
export { createFileHandlers, type FileRouteDeps } from './routes/files.ts';

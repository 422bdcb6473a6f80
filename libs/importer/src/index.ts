export { type ApiClient, ApiError, type ClientOptions, createClient, Unreachable } from './client.ts';
export { ImportFailed, type ImportOptions, type ImportProgress, type ImportResult, importFolder } from './import.ts';
export { type ImportPlan, type PlannedFile, type PlannedPage, readFolder, UnusableFolder } from './source.ts';

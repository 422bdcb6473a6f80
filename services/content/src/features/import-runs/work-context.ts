import type { ImportItem, SettledFile, SettledItem } from './events.ts';
import type { KnownImportRun } from './state.ts';

/** What a process has done, to be recorded at once. */
export interface Progress {
  readonly found?: readonly ImportItem[];
  readonly settled?: readonly SettledItem[];
  readonly files?: readonly SettledFile[];
  readonly beyond?: number;
}

/** The import that a process works on. */
export interface WorkContext {
  /** As it is now. */
  state(): KnownImportRun;
  /** Records what was done. @throws Problem `import.ended`, `import.taken` when it is not this process's work any more */
  progress(done: Progress): Promise<void>;
  /** Aborts when the work is to be left: it was cancelled, its time is over, or the process stops. */
  readonly signal: AbortSignal;
  newId(): string;
}

/** The import as a whole cannot be done. `message` is for whoever started it. */
export class ImportFailed extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Bytes that the import has taken so far. */
export const bytesOf = ({ settled }: KnownImportRun): number =>
  settled.values().reduce((sum, { bytes }) => sum + bytes, 0);
/** Characters of markdown so far. */
export const charactersOf = ({ settled }: KnownImportRun): number =>
  settled.values().reduce((sum, { characters }) => sum + characters, 0);

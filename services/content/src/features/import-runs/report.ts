import { limits } from '@bindery/contracts';
import type { Assembled } from './plan/assemble.ts';
import type { KnownImportRun } from './state.ts';

const maxAddress = 300;

/** What of an import did not come along, page by page; undefined when everything did. */
export const reportOf = (
  { items, settled, files, beyond }: KnownImportRun,
  problems: Assembled['problems'],
  more: readonly string[],
): { readonly failed: number; readonly reason?: string } => {
  const lines: string[] = [];
  let failed = 0;
  for (const { id, outcome, reason } of settled.values()) {
    if (outcome === 'failed') failed += 1;
    if (reason !== undefined) lines.push(`${items.get(id)?.address ?? id}: ${reason}`);
  }
  for (const { address, reason } of files.values()) if (reason !== undefined) lines.push(`${address}: ${reason}`);
  for (const { address, reason } of problems) lines.push(`${address}: ${reason}`);
  failed += problems.length;
  const told = lines.slice(0, limits.importRun.told.pages).map((line) => line.slice(0, maxAddress));
  if (lines.length > told.length) told.push(`and ${lines.length - told.length} more`);
  if (beyond > 0) told.push(`${beyond} links were not followed: an import has at most ${limits.importRun.pages} pages`);
  const all = [...more, ...told];
  return { failed, ...(all.length === 0 ? {} : { reason: all.join('\n') }) };
};

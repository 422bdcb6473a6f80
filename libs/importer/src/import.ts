import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '@bindery/contracts';
import type { ApiClient } from './client.ts';
import { type KnownTargets, withStableLinks } from './links.ts';
import type { ImportPlan, PlannedFile, PlannedPage } from './source.ts';

export interface ImportOptions {
  readonly client: ApiClient;
  readonly plan: ImportPlan;
  /** Default: the first organization in which the token may create content. */
  readonly organization?: string;
  /** Makes this run a new import even though the same folder was imported within the last 24 hours. */
  readonly nonce?: string;
  readonly onProgress?: (progress: ImportProgress) => void;
}

export interface ImportProgress {
  readonly step: 'space' | 'files' | 'structure' | 'pages' | 'merge' | 'done';
  readonly done: number;
  readonly total: number;
}

export interface ImportResult {
  readonly space: string;
  readonly changeRequest: string;
  readonly revision: string;
  readonly pages: number;
  readonly files: number;
}

/** The instance did something that an import cannot go on from. */
export class ImportFailed extends Error {}

interface ContentAnswer {
  readonly changes: readonly {
    readonly object: string;
    readonly ref?: string;
    readonly page: { readonly id: string } | string;
  }[];
  readonly insertedFiles?: readonly { readonly id: string }[];
}

/** Bytes of JSON in one request: well below the limit, so that a batch is also quick. */
const batchBytes = Math.floor(limits.body.large / 2);

/** Cuts a list into runs of at most `count` items and about `bytes` of weight. */
const runs = <T>(items: readonly T[], count: number, weigh: (item: T) => number): T[][] => {
  const cut: T[][] = [];
  let weight = 0;
  for (const item of items) {
    const current = cut.at(-1);
    weight += weigh(item);
    if (current === undefined || current.length >= count || weight > batchBytes) {
      cut.push([item]);
      weight = weigh(item);
    } else current.push(item);
  }
  return cut;
};

const firstOrganization = async (client: ApiClient): Promise<string> => {
  const { items } = await client.get<{ items: { id: string; permissions: { createContent: boolean } }[] }>(
    '/orgs?limit=1000',
  );
  const usable = items.find((organization) => organization.permissions.createContent);
  if (usable === undefined)
    throw new ImportFailed('the token belongs to no organization in which it may create spaces');
  return usable.id;
};

/**
 * Lands a folder as one merged change request of a new space. Every write carries an idempotency key made from the folder's
 * digest, so a run that was cut off (here or there) goes on where it stopped when it is started again within 24 hours.
 * @throws ApiError, Unreachable, ImportFailed
 */
export const importFolder = async ({
  client,
  plan,
  organization,
  nonce,
  onProgress,
}: ImportOptions): Promise<ImportResult> => {
  const organizationId = organization ?? (await firstOrganization(client));
  const run = createHash('sha256')
    .update(JSON.stringify([organizationId, plan.title, plan.digest, nonce ?? '']))
    .digest('hex')
    .slice(0, 40);
  const key = (step: string): string => `import-${run}-${step}`;
  const report = (step: ImportProgress['step'], done: number, total: number): void =>
    onProgress?.({ step, done, total });

  report('space', 0, 1);
  const space = await client.post<{ id: string }>(
    `/orgs/${organizationId}/spaces`,
    { title: plan.title, empty: true },
    key('space'),
  );
  const changeRequest = await client.post<{ id: string }>(
    `/spaces/${space.id}/change-requests`,
    { subject: `Import of ${plan.title}`.slice(0, limits.changeRequest.subject) },
    key('change-request'),
  );
  const content = `/spaces/${space.id}/change-requests/${changeRequest.id}/content?compat=false`;

  const fileIds = new Map<string, string>();
  const base64Of = (file: PlannedFile): number => Math.ceil(file.size / 3) * 4;
  for (const [index, batch] of runs(plan.files, limits.file.maxPerChange, base64Of).entries()) {
    report('files', fileIds.size, plan.files.length);
    const files = await Promise.all(
      batch.map(async (file) => ({
        base64: (await readFile(join(plan.folder, file.path))).toString('base64'),
        name: file.name,
        contentType: file.contentType,
      })),
    );
    const answer = await client.post<ContentAnswer>(
      content,
      { changes: [{ operation: 'insert_files', files }] },
      key(`files-${index}`),
    );
    batch.forEach((file, at) => {
      const id = answer.insertedFiles?.[at]?.id;
      if (id === undefined) throw new ImportFailed(`the instance gave no id for ${file.path}`);
      fileIds.set(file.path, id);
    });
  }

  // First the structure, level by level (a page names its parent by id), then the bodies: so links may point anywhere.
  const pageIds = new Map<string, string>();
  const depths = Math.max(0, ...plan.pages.map((page) => page.depth + 1));
  for (let depth = 0; depth < depths; depth += 1) {
    const level = plan.pages.filter((page) => page.depth === depth);
    for (const [index, batch] of runs(level, limits.contentChanges.maxItems, () => 500).entries()) {
      report('structure', pageIds.size, plan.pages.length);
      const changes = batch.map((page) => insertion(page, pageIds));
      const answer = await client.post<ContentAnswer>(content, { changes }, key(`structure-${depth}-${index}`));
      for (const outcome of answer.changes) {
        if (outcome.object === 'created_page' && outcome.ref !== undefined && typeof outcome.page === 'object')
          pageIds.set(outcome.ref, outcome.page.id);
      }
    }
  }

  const pagesByPath = new Map<string, string>();
  for (const page of plan.pages) {
    const id = pageIds.get(page.ref);
    if (id === undefined) throw new ImportFailed(`the instance gave no id for the page "${page.title}"`);
    if (page.path !== undefined) pagesByPath.set(page.path, id);
  }
  // While the instance works on one batch the next one is made ready.
  const written = plan.pages.filter((page) => page.path !== undefined);
  const targets = { pages: pagesByPath, files: fileIds };
  let underway: Promise<unknown> = Promise.resolve();
  let done = 0;
  for (const [index, batch] of runs(written, limits.contentChanges.maxItems, (page) => page.size * 2).entries()) {
    report('pages', done, written.length);
    const changes: unknown[] = [];
    for (const page of batch) changes.push(await rewriting(plan, page, pageIds, targets));
    await underway;
    underway = client.post(content, { changes }, key(`pages-${index}`));
    // The failure is met by the `await` above or below; until then it must not count as unhandled.
    underway.catch(() => undefined);
    done += batch.length;
  }
  await underway;

  report('merge', 0, 1);
  const merged = await client.post<{ revision: string; result: string }>(
    `/spaces/${space.id}/change-requests/${changeRequest.id}/merge`,
    undefined,
    key('merge'),
  );
  if (merged.result !== 'merge') throw new ImportFailed(`the change request did not merge cleanly (${merged.result})`);
  report('done', written.length, written.length);
  return {
    space: space.id,
    changeRequest: changeRequest.id,
    revision: merged.revision,
    pages: written.length,
    files: fileIds.size,
  };
};

/** The change that gives a page its text, with links that hold. */
const rewriting = async (
  plan: ImportPlan,
  page: PlannedPage,
  pageIds: ReadonlyMap<string, string>,
  targets: KnownTargets,
): Promise<Readonly<Record<string, unknown>>> => {
  const path = page.path ?? '';
  const markdown = withStableLinks(await readFile(join(plan.folder, path), 'utf8'), path, targets);
  return {
    operation: 'update_page',
    page: pageIds.get(page.ref),
    document: { markdown },
    ...(page.hidden ? { hidden: true } : {}),
  };
};

const insertion = (page: PlannedPage, pageIds: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> => {
  const parent = page.parent === null ? undefined : pageIds.get(page.parent);
  return {
    operation: 'insert_page',
    ref: page.ref,
    title: page.title,
    slug: page.slug,
    document: {},
    ...(parent === undefined ? {} : { into: parent }),
    ...(page.hidden ? { hidden: true } : {}),
  };
};

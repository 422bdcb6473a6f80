import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readFolder } from '@bindery/importer';
import { type Running, startProduct } from '@bindery/testing/product';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { elsaDocs, ok, testWithElsa } from './support.ts';

interface Page {
  readonly id: string;
  readonly type: string;
  readonly path: string;
  readonly title: string;
  readonly markdown?: string;
  readonly pages: readonly Page[];
}

const flat = (pages: readonly Page[]): Page[] => pages.flatMap((page) => [page, ...flat(page.pages ?? [])]);

const command = fileURLToPath(new URL('../../../tools/import.ts', import.meta.url));

/** Imports as people do: by the command, in a process of its own. */
const importElsa = async ({ url, token }: Running) => {
  const env = { ...process.env, BINDERY_TOKEN: token };
  const { stdout } = await promisify(execFile)(process.execPath, [command, elsaDocs, '--url', url], { env });
  const [, pages, files, space] = /^(\d+) pages and (\d+) files are in space (\w+) /m.exec(stdout) ?? [];
  return { pages: Number(pages), files: Number(files), space };
};

describe('importing real documentation', () => {
  let product: Running;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(async () => {
    await product.stop();
  });

  testWithElsa(
    'all pages, links and images arrive; running it again resumes instead of repeating',
    async () => {
      const plan = await readFolder(elsaDocs);
      const result = await importElsa(product);
      // Every markdown file but SUMMARY.md.
      expect(result.pages).toBe(185);

      const { pages } = await ok<{ pages: Page[] }>(product, 'GET', `/v1/spaces/${result.space}/content/pages`);
      const all = flat(pages);
      expect(all.length).toBe(plan.pages.length);
      const concepts = all.find((page) => page.title === 'Concepts');
      expect(concepts?.path).toBe('getting-started/concepts');

      // Every link between pages is a reference now, none was left as a relative path into the folder.
      let relative = 0;
      let references = 0;
      for (const page of all.filter((one) => one.type === 'document')) {
        const body = await ok<unknown>(
          product,
          'GET',
          `/v1/spaces/${result.space}/content/page/${page.id}?format=document`,
        );
        const text = JSON.stringify(body);
        references += text.match(/"kind":"(page|anchor|file)"/g)?.length ?? 0;
        relative += text.match(/"kind":"url","url":"(?![a-z]+:|#|\/)[^"]*\.md/g)?.length ?? 0;
      }
      expect(references).toBeGreaterThan(300);
      expect(relative).toBeLessThan(references / 10);

      const again = await importElsa(product);
      expect(again).toEqual(result);
      const found = await ok<{ items: { title: string }[] }>(
        product,
        'GET',
        `/v1/spaces/${result.space}/search?query=workflow+dispatcher`,
      );
      expect(found.items[0]?.title).toMatch(/Dispatch/);
    },
    120_000,
  );
});

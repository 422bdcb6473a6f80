import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, importFolder, readFolder } from '@bindery/importer';
import { startProduct } from '@bindery/testing/product';
import { timed } from '../api.ts';
import { atMost, type Figure, noted } from '../report.ts';

const elsa = fileURLToPath(new URL('../../../../../shared/data/elsa-docs', import.meta.url));
const own = fileURLToPath(new URL('../../../../docs', import.meta.url));

/** Time to import real documentation through the public API, as `npm run import` does. */
export const importing = async (): Promise<Figure[]> => {
  const folder = existsSync(elsa) ? elsa : own;
  const product = await startProduct();
  try {
    const plan = await readFolder(folder);
    const milliseconds = await timed(() =>
      importFolder({ client: createClient({ url: product.url, token: product.token }), plan }),
    );
    const name = `Import of ${plan.pages.filter((page) => page.path !== undefined).length} pages and ${plan.files.length} files`;
    return [folder === elsa ? atMost(name, milliseconds / 1000, 5, ' s') : noted(name, milliseconds / 1000, ' s')];
  } finally {
    await product.stop();
  }
};

/**
 * Step of the Dockerfile after `npm ci`: a CycloneDX document of what was installed.
 *
 *   node build/bill-of-materials.ts <service>
 *
 * `npm sbom` would be the obvious tool. It refuses a tree in which any package asks for an older version of another than
 * the lock file has (the event store's client does, of type declarations), and run on the lock file alone it leaves out
 * what workspaces bring in. What npm notes about the tree it made is complete, so the document is made from that.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Installed {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly name?: string;
}

/** A package in a CycloneDX document. */
export interface Component {
  readonly type: 'library' | 'application';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly [{ readonly expression: string } | { readonly license: { readonly name: string } }];
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
/** https://github.com/package-url/purl-spec: the scope is a namespace, whose `@` is encoded. */
const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
/** An SPDX expression, or one word that is one: what manifests have otherwise is a name. */
const isExpression = (text: string): boolean => /^\(?[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*\)?$/.test(text);

const componentOf = (path: string, entry: Installed): Component => {
  const name = entry.name ?? nameOf(path);
  const version = entry.version ?? '0.0.0';
  const sha512 = entry.integrity?.match(/sha512-([A-Za-z0-9+/=]+)/)?.[1];
  return {
    type: 'library',
    'bom-ref': `${purlOf(name, version)}#${path}`,
    name,
    version,
    purl: purlOf(name, version),
    ...(entry.license && {
      licenses: [
        isExpression(entry.license) ? { expression: entry.license } : { license: { name: entry.license } },
      ] as const,
    }),
    ...(sha512 && { hashes: [{ alg: 'SHA-512' as const, content: Buffer.from(sha512, 'base64').toString('hex') }] }),
  };
};

/**
 * @param packages the `packages` of node_modules/.package-lock.json
 * @returns a CycloneDX 1.6 document; the same packages give the same bytes
 */
export const billOfMaterials = (service: string, version: string, packages: Readonly<Record<string, Installed>>) => {
  const components = Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, entry]) => componentOf(path, entry))
    .toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const digest = createHash('sha256')
    .update(JSON.stringify([service, version, components]))
    .digest('hex');
  // A name-based UUID (RFC 9562, version 8) of the content.
  const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': `bindery-${service}`, name: `@bindery/${service}`, version },
    },
    components,
  };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const service = process.argv[2];
  if (!service) throw new Error('usage: bill-of-materials.ts <service>');
  const read = (file: string) => JSON.parse(readFileSync(join(process.cwd(), file), 'utf8'));
  const bill = billOfMaterials(service, read('package.json').version, read('node_modules/.package-lock.json').packages);
  process.stdout.write(`${JSON.stringify(bill, null, 1)}\n`);
}

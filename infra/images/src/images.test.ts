import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { billOfMaterials } from './bill-of-materials.ts';
import { flagOf, pairsOf } from './dockerfile.ts';
import { manifestsFor } from './manifests.ts';
import { split } from './split.ts';
import { closureOf } from './workspaces.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('an image has the packages that its service uses, and no other service', () => {
  const folders = closureOf(root, 'gateway').map(({ folder }) => folder);
  expect(folders).toEqual(expect.arrayContaining(['libs/contracts', 'libs/distributed', 'services/gateway']));
  expect(folders.filter((folder) => folder.startsWith('services/'))).toEqual(['services/gateway']);
  expect(folders).not.toContain('libs/testing');
  expect(() => closureOf(root, 'nothing')).toThrow("no service 'nothing'");
});

test('what is installed is locked, and nothing of it is a tool', () => {
  const manifests = manifestsFor(root, closureOf(root, 'gateway'));
  expect(manifests.get('package.json')).not.toHaveProperty('devDependencies');
  expect(manifests.get('services/gateway/package.json')).not.toHaveProperty('devDependencies');
  const locked = Object.keys(Object(manifests.get('package-lock.json')?.packages));
  expect(locked).toContain('services/gateway');
  expect(locked).not.toContain('services/content');
  expect(locked).not.toContain('node_modules/@bindery/content');
});

test('the bill of materials names what is installed, in CycloneDX, with sums and licences, always the same', () => {
  const packages = {
    'node_modules/@bindery/content': { link: true },
    'services/content': { version: '0.1.0' },
    'node_modules/@grpc/grpc-js': {
      version: '1.2.3',
      license: 'Apache-2.0',
      integrity: `sha512-${Buffer.from('sum').toString('base64')}`,
    },
    'node_modules/a/node_modules/b': { version: '2.0.0', license: 'see the file' },
  };
  const bill = billOfMaterials('content', '0.1.0', packages);
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { name: '@bindery/content' } },
  });
  expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(bill.components).toMatchObject([
    {
      name: '@grpc/grpc-js',
      purl: 'pkg:npm/%40grpc/grpc-js@1.2.3',
      licenses: [{ expression: 'Apache-2.0' }],
      hashes: [{ alg: 'SHA-512', content: Buffer.from('sum').toString('hex') }],
    },
    { name: 'b', version: '2.0.0', licenses: [{ license: { name: 'see the file' } }] },
  ]);
  expect(billOfMaterials('content', '0.1.0', packages)).toEqual(bill);
});

test('instructions are read as BuildKit gives them', () => {
  const env = { name: 'ENV', line: 1, args: ['A', '"x y"', '=', 'B', '1', '='] };
  expect(pairsOf(env)).toEqual({ A: 'x y', B: '1' });
  expect(flagOf({ name: 'COPY', line: 1, args: [], flags: ['--chown=1:1', '--from=source'] }, 'from')).toBe('source');
});

test('what a checkout keeps for its owner alone, the process of an image can read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-split-'));
  const before = process.umask(0o077);
  try {
    const [checkout, target] = [join(folder, 'checkout'), join(folder, 'split')];
    const manifest = JSON.stringify({ name: '@bindery/a', workspaces: ['services/*'] });
    const code = ['LICENSE', '.npmrc', 'services/a/src/main.ts', 'infra/images/src/health.mjs'];
    code.push('infra/images/src/bill-of-materials.ts');
    for (const file of [...code, 'package.json', 'package-lock.json', 'services/a/package.json']) {
      mkdirSync(join(checkout, dirname(file)), { recursive: true });
      writeFileSync(join(checkout, file), file.endsWith('.json') ? manifest : '');
    }
    split(checkout, 'a', target);
    const found = readdirSync(target, { recursive: true, encoding: 'utf8' });
    expect(found).toContain('sources/services/a/src/main.ts');
    const closed = found.filter((path) => (statSync(join(target, path)).mode & 0o004) === 0);
    expect(closed).toEqual([]);
  } finally {
    process.umask(before);
    rmSync(folder, { recursive: true, force: true });
  }
});

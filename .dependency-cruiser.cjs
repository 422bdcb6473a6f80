/**
 * The architecture as rules that fail (docs/adr/0003-boundaries.md).
 * @type {import('dependency-cruiser').IConfiguration}
 */
const feature = '^services/([^/]+)/src/features/([^/]+)/';
const compositionRoot = '(^services/[^/]+/src/(main|embedded)|^libs/distributed/src/open-(stores|kafka))\\.ts$';
const testFile = '(\\.test\\.ts$|/testing\\.ts$|^libs/testing/|^infra/|^tools/)';

module.exports = {
  forbidden: [
    {
      name: 'service-never-imports-service',
      comment: 'Services meet only through events and through ServiceClient; standalone composes them.',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: `^services/standalone/|${testFile}` },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'lib-never-imports-service',
      severity: 'error',
      from: { path: '^libs/', pathNot: testFile },
      to: { path: '^services/' },
    },
    {
      name: 'adapters-only-in-composition-roots',
      comment: 'A service knows ports. Adapters are chosen once, in main.ts.',
      severity: 'error',
      from: { path: '^(services|libs)/', pathNot: `${compositionRoot}|${testFile}|^libs/[^/]+/src/adapters/` },
      to: { path: '^libs/[^/]+/src/adapters/' },
    },
    {
      name: 'adapter-libraries-only-in-adapters',
      severity: 'error',
      from: { path: '^(services|libs)/', pathNot: `/adapters/|${testFile}` },
      to: { path: '(^node:sqlite$|^sqlite$|node_modules/(kafkajs|mongodb|ioredis|@eventstore))' },
    },
    {
      name: 'features-meet-at-index',
      severity: 'error',
      from: { path: feature },
      to: {
        path: '^services/$1/src/features/',
        pathNot: ['^services/$1/src/features/$2/', '/index\\.ts$', '/model\\.ts$'],
      },
    },
    {
      name: 'decider-is-pure',
      severity: 'error',
      from: { path: `${feature}(decider|events|state|[a-z]+-rules)\\.ts$` },
      to: {
        pathNot: [
          '^services/$1/src/features/$2/(decider|events|state|[a-z]+-rules)\\.ts$',
          // The vocabulary of a feature: types without behaviour.
          '^services/$1/src/features/[^/]+/model\\.ts$',
          '^services/$1/src/shared/',
          '^libs/(event-sourcing|service-kit|contracts|documents)/',
        ],
      },
    },
    {
      name: 'no-cycles',
      comment: 'But for the reader and the writer of markdown: blocks hold blocks, so their rules call one another.',
      severity: 'error',
      from: { pathNot: '^libs/documents/src/markdown/(parse|write)/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-undeclared-packages',
      severity: 'error',
      from: { pathNot: testFile },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'], couldNotResolve: true },
    },
    {
      name: 'production-imports-no-tests',
      severity: 'error',
      from: { path: '^(services|libs)/', pathNot: testFile },
      to: { path: '(\\.test\\.ts$|/testing\\.ts$|^libs/testing/)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
    parser: 'swc',
  },
};

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { run } from './run.ts';
import { cached } from './tools.ts';

/** Versions of Kubernetes that the manifests are checked against: the oldest that they are meant for, and a newest. */
export const kubernetesVersions = ['1.33.0', '1.37.0'] as const;

/** Schemas of Kubernetes itself, made from its OpenAPI document for this very purpose; with the sum that PyPI has for it. */
const coreSchemas = {
  package: 'kubernetes-validate==1.37.0',
  sum: 'sha256:85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9',
};

interface Definitions {
  readonly module: string;
  /** Of the module's content, as Go's checksum database has it. */
  readonly sum: string;
  readonly files: readonly string[];
}

/** Where the definitions of the other kinds are: the projects that define them. */
const definitions: readonly Definitions[] = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.6.3',
    sum: 'h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=',
    files: ['gateways', 'httproutes'].map((name) => `config/crd/standard/gateway.networking.k8s.io_${name}.yaml`),
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
    files: ['scaledobjects', 'triggerauthentications'].map((name) => `config/crd/bases/keda.sh_${name}.yaml`),
  },
  {
    module: 'github.com/external-secrets/external-secrets@v0.16.2',
    sum: 'h1:iNY+gIgSyL5higXTfnz+hdPCaiB/43UiHLqE7HBpj68=',
    files: ['config/crds/bases/external-secrets.io_externalsecrets.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: ['servicemonitors', 'prometheusrules'].map(
      (name) => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
    ),
  },
];

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A schema as a definition has it, with every object closed whose fields are listed, so that a misspelt field is an error;
 * which is what the API server does with `kubectl apply --validate=strict`.
 */
export const strict = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isObject(schema)) return schema;
  const { format: _format, ...rest } = schema;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, strict(value)]));
  if (rest['x-kubernetes-int-or-string'] === true) return { anyOf: [{ type: 'integer' }, { type: 'string' }] };
  const open = rest['x-kubernetes-preserve-unknown-fields'] === true || 'additionalProperties' in rest;
  return isObject(rest.properties ?? null) && !open ? { ...inner, additionalProperties: false } : inner;
};

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly schema: { readonly openAPIV3Schema: { readonly properties: Readonly<Record<string, Json>> } };
}

/** Writes the schemas of a file of CustomResourceDefinitions, named as kubeconform looks for them. */
const writeDefinitions = (file: string, folder: string): void => {
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const { spec } = document.toJS() ?? {};
    for (const { name, served, schema } of (spec?.versions ?? []) as readonly Version[]) {
      if (!served) continue;
      const { metadata: _, ...properties } = schema.openAPIV3Schema.properties;
      const closed = { ...schema.openAPIV3Schema, properties: { ...properties, metadata: { type: 'object' } } };
      const target = join(folder, `${String(spec.names.kind).toLowerCase()}_${name}.json`);
      writeFileSync(target, JSON.stringify(strict(closed as unknown as Json)));
    }
  }
};

/** Where Go keeps each module of definitions; fetched at the first call on a machine. @throws Error at another sum */
const foldersOfDefinitions = async (cwd: string): Promise<ReadonlyMap<Definitions, string>> => {
  const folders = new Map<Definitions, string>();
  for (const one of definitions) {
    const { Dir, Sum } = JSON.parse(await run('go', ['mod', 'download', '-json', one.module], { cwd }));
    if (Sum !== one.sum) throw new Error(`${one.module} has the sum ${Sum}, not ${one.sum}`);
    folders.set(one, Dir);
  }
  return folders;
};

/** The CustomResourceDefinitions themselves, for an API server. @param cwd a folder that is in no Go module */
export const definitionFiles = async (cwd: string): Promise<readonly string[]> =>
  [...(await foldersOfDefinitions(cwd))].flatMap(([{ files }, folder]) => files.map((file) => join(folder, file)));

/** Takes the schemas of our versions out of the package. Python's own zip reader: there is Python where there is pip. */
const unpack = `
import json, os, sys, zipfile
wheel, target = sys.argv[1:3]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        folder, _, file = name.removeprefix('kubernetes_validate/kubernetes-json-schema/').partition('/')
        if folder in sys.argv[3:] and file.endswith('.json'):
            path = os.path.join(target, folder, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # They name themselves and one another by where they were made.
            schema = json.loads(archive.read(name).replace(b'"/api/_definitions.json#', b'"_definitions.json#'))
            schema.pop('$id', None)
            with open(path, 'w') as out:
                json.dump(schema, out)
`;

/** Where kubeconform finds the schemas, as its `-schema-location` wants it; downloaded at the first call on a machine. */
export const schemaLocations = async (say: (line: string) => void): Promise<readonly string[]> => {
  const folders = kubernetesVersions.map((version) => `v${version}-local-strict`);
  const core = await cached(`json-schemas-of-kubernetes-${coreSchemas.package.split('==')[1]}`, async (target) => {
    say('fetching the schemas of Kubernetes (once)');
    writeFileSync(join(target, 'requirements.txt'), `${coreSchemas.package} --hash=${coreSchemas.sum}\n`);
    const requirements = ['-r', 'requirements.txt', '--require-hashes', '--no-deps', '--only-binary', ':all:'];
    await run(
      'python3',
      ['-m', 'pip', 'download', '-q', '--disable-pip-version-check', ...requirements, '-d', 'wheel'],
      {
        cwd: target,
      },
    );
    const wheel = `wheel/kubernetes_validate-${coreSchemas.package.split('==')[1]}-py3-none-any.whl`;
    await run('python3', ['-c', unpack, wheel, '.', ...folders], { cwd: target });
    await run('rm', ['-r', 'wheel'], { cwd: target });
  });
  const others = await cached(
    `definitions-${definitions.map(({ module }) => module.split('@')[1]).join('-')}`,
    async (target) => {
      say('fetching the definitions of the other kinds (once)');
      mkdirSync(target, { recursive: true });
      for (const [{ files }, folder] of await foldersOfDefinitions(target))
        for (const file of files) writeDefinitions(join(folder, file), target);
    },
  );
  return [
    join(core, '{{.NormalizedKubernetesVersion}}-local-strict/{{.ResourceKind}}{{.KindSuffix}}.json'),
    join(others, '{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'),
  ];
};

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type OperationDefinition, operations } from '@bindery/contracts';

/** Where the table of permissions stands. */
export const permissionsPage = fileURLToPath(new URL('../docs/api/permissions.md', import.meta.url));

const prefixes = { public: '/v1', admin: '/admin/v1', internal: '' } as const;
const declared: Readonly<Record<string, OperationDefinition>> = operations;

/** What each operation that people can call needs, by tag, in the order of the contract. */
const table = (): string => {
  const byTag = new Map<string, OperationDefinition[]>();
  for (const operation of Object.values(declared)) {
    if (operation.surface === 'internal') continue;
    byTag.set(operation.tag, [...(byTag.get(operation.tag) ?? []), operation]);
  }
  return [...byTag]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([tag, members]) => {
      const rows = members.map(
        ({ id, method, surface, path, access, scope }) =>
          `| \`${id}\` | \`${method} ${prefixes[surface]}${path}\` | \`${access}\` | ${scope === undefined ? '' : `\`${scope}\``} |`,
      );
      return [
        `### ${tag}`,
        '',
        '| Operation | Address | Permission | Scope |',
        '| --- | --- | --- | --- |',
        ...rows,
      ].join('\n');
    })
    .join('\n\n');
};

/** The page with the table between its markers. */
export const withPermissions = (page: string): string =>
  page.replace(
    /<!-- permissions -->[\s\S]*<!-- \/permissions -->/,
    `<!-- permissions -->\n\n${table()}\n\n<!-- /permissions -->`,
  );

/** Brings the page up to date. */
export const writePermissions = (): void =>
  writeFileSync(permissionsPage, withPermissions(readFileSync(permissionsPage, 'utf8')));

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildAsyncApi, publicEvents } from '@bindery/contracts';

type Definition = ReturnType<(typeof publicEvents)['values']> extends Iterator<infer D> ? D : never;
type Schema = Readonly<Record<string, unknown>>;

const schemas: Readonly<Record<string, Schema>> = Object(buildAsyncApi({ version: '1' }).components).schemas;

const resolved = (schema: Schema): Schema => {
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  return name === undefined ? schema : (schemas[name] ?? {});
};

/** A type in a few words: `text`, `time`, `list of text`, `"a" or "b"`. */
const typeOf = (given: unknown): string => {
  const schema = resolved(Object(given));
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return [...new Set(choices.map(typeOf))].join(' or ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`;
  if (schema.type === 'string') return schema.format === 'date-time' ? 'time' : 'text';
  return typeof schema.type === 'string' ? schema.type : 'object';
};

const fieldsOf = (data: Definition['data']): string => {
  const schema = resolved(Object(data));
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const rows = Object.entries(Object(schema.properties)).map(([name, field]) => {
    const { description = '' }: { readonly description?: unknown } = Object(field);
    const words = typeOf(field).replaceAll('|', '\\|');
    return `| \`${name}\` | ${words} | ${required.has(name) ? 'always' : 'sometimes'} | ${String(description).replaceAll('\n', ' ')} |`;
  });
  return rows.length === 0
    ? 'No fields.'
    : ['| field | type | there | |', '| --- | --- | --- | --- |', ...rows].join('\n');
};

const section = ({ type, summary, description, data, samples = [] }: Definition): string => {
  const [first] = samples;
  const sample = first === undefined ? [] : ['', '```json', JSON.stringify(first, null, 2), '```'];
  const more = description === undefined ? [] : ['', description.replaceAll(/\s*\n\s*/g, ' ')];
  return [`## ${type}`, '', summary, ...more, '', fieldsOf(data), ...sample].join('\n');
};

/** The owners of events: each has a page. */
export const eventOwners: readonly string[] = [...new Set([...publicEvents.values()].map(({ owner }) => owner))].sort();

/** Where the page of a service stands. */
export const eventPage = (owner: string): string =>
  fileURLToPath(new URL(`../docs/events/${owner}.md`, import.meta.url));

/** The page of a service's events, whole: every type with its fields and an example. */
export const eventPageText = (owner: string): string => {
  const own = [...publicEvents.values()].filter((event) => event.owner === owner);
  const title = `${owner[0]?.toUpperCase()}${owner.slice(1)} events`;
  return `${[
    '---',
    `description: Every public event of the ${owner} service, on the topic bindery.${owner}.v1.`,
    '---',
    '',
    `# ${title}`,
    '',
    `${own.length} types on the topic \`bindery.${owner}.v1\`. This page is made from the catalogue by \`npm run docs\`; the schemas`,
    'themselves are at `/asyncapi.json` of every instance.',
    '',
    ...own.map(section).join('\n\n').split('\n'),
  ].join('\n')}\n`;
};

/** Writes all of them. */
export const writeEventPages = (): void => {
  for (const owner of eventOwners) writeFileSync(eventPage(owner), eventPageText(owner));
};

/** The page as it is stored. */
export const storedEventPage = (owner: string): string => readFileSync(eventPage(owner), 'utf8');

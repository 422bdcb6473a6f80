import type { Block, ContentRef, PlainObject } from '@bindery/contracts/document';
import type { Token } from 'markdown-it';
import { part, present } from '../../model/build.ts';
import { isSafeUrl } from '../dialect.ts';
import { readBlocks } from './blocks.ts';
import type { ParseContext } from './context.ts';
import type { TagSpan } from './scan.ts';
import type { Values } from './tag-values.ts';

const caption = (nodes: Block[]): object => (nodes.length === 0 ? {} : { fragments: [part('caption', nodes)] });

/** `[label](address)` below content-ref, file or an API tag only repeats the address: it is written anew. */
function isDerived(nodes: readonly Block[], href: string): boolean {
  const [only] = nodes;
  if (nodes.length !== 1 || only?.type !== 'paragraph' || only.nodes.length !== 1) return false;
  const [link] = only.nodes;
  const [label] = link?.object === 'inline' && link.type === 'link' ? link.nodes : [];
  return label?.object === 'text' && label.leaves.length === 1 && label.leaves[0]?.text === linkLabel(href);
}

/** The label that the dialect gives an address: its last segment, or its anchor. */
export function linkLabel(href: string): string {
  const [path = '', ...rest] = href.split('#');
  if (rest.length > 0 && path === '') return `#${rest.join('#')}`;
  const segments = path.split('/').filter((segment) => segment !== '');
  const last = segments.at(-1) ?? href;
  return rest.length > 0 ? `${last}#${rest.join('#')}` : last;
}

/** Reads the tags that hold no blocks: embeds, files, references, API descriptions. Undefined when one lacks its address. */
export function readVoid(span: TagSpan, values: Values, inside: Token[], context: ParseContext): Block | undefined {
  const nodes = readBlocks(inside, context);
  const body = (href: string) => (isDerived(nodes, href) ? {} : caption(nodes));
  const make = (type: string, data: object, rest: object = caption(nodes)): Block =>
    ({ object: 'block', type, isVoid: true, data, ...rest }) as Block;
  const address = values.text('url') ?? values.text('src') ?? span.attributes.rest;
  if (address !== '' && !isSafeUrl(address)) return undefined;
  const spec: ContentRef | undefined =
    values.text('spec') === undefined ? undefined : { kind: 'openapi', spec: values.text('spec') ?? '' };
  const method = values.text('method') ?? '';
  const path = values.text('path') ?? '';
  switch (span.name) {
    case 'embed':
      return address === ''
        ? undefined
        : make('embed', { url: address, ...present({ fullWidth: values.flag('fullWidth') }) });
    case 'file':
      return address === '' ? undefined : make('file', { ref: context.resolve(address, 'file') });
    case 'content-ref':
      return address === '' ? undefined : make('content-ref', { ref: context.resolve(address, 'page') }, body(address));
    case 'include':
      return address === ''
        ? undefined
        : make('reusable-content', { ref: context.resolve(address, 'reusable-content') });
    case 'swagger':
    case 'openapi': {
      if (address === '') return undefined;
      const options = present({ expanded: values.flag('expanded'), fullWidth: values.flag('fullWidth') });
      return make('swagger', { path, method, ref: context.resolve(address, 'file'), ...options }, body(address));
    }
    case 'openapi-operation':
      return (
        spec &&
        make('openapi-operation', { path, method, ref: spec, ...present({ headless: values.flag('headless') }) })
      );
    case 'openapi-webhook':
      return (
        spec &&
        make('openapi-webhook', {
          name: values.text('name') ?? '',
          method,
          ref: spec,
          ...present({ headless: values.flag('headless') }),
        })
      );
    case 'openapi-schemas': {
      const schemas = (values.text('schemas') ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '');
      return (
        spec &&
        make('openapi-schemas', {
          schemas,
          ref: spec,
          ...present({ grouped: values.flag('grouped'), title: values.text('title') }),
        })
      );
    }
    default:
      return undefined;
  }
}

/** Reads `{% @integration/block %}`; all attributes but `url` and `fullWidth` are its properties. */
export function readIntegration(span: TagSpan, inside: Token[], context: ParseContext): Block | undefined {
  const [integration = '', name = ''] = span.name.slice(1).split('/');
  const props: PlainObject = {};
  const data: { url?: string; fullWidth?: boolean } = {};
  for (const [key, value] of span.attributes.named) {
    if (key === 'url' && typeof value === 'string') data.url = value;
    else if (key === 'fullWidth' && (value === 'true' || value === 'false')) data.fullWidth = value === 'true';
    else props[key] = value;
  }
  if (span.attributes.rest !== '' || (data.url !== undefined && !isSafeUrl(data.url))) return undefined;
  return {
    object: 'block',
    type: 'integration',
    isVoid: true,
    data: { integration, block: name, props, ...data },
    ...caption(readBlocks(inside, context)),
  };
}

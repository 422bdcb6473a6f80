import type {
  AnyBlock,
  Block,
  ContentRef,
  Fragment,
  Length,
  PlainObject,
  PlainValue,
} from '@bindery/contracts/document';
import { isPart, text } from '../../model/build.ts';
import { linkLabel } from '../parse/tag-voids.ts';
import { writeBlocks } from './blocks.ts';
import type { WriteContext } from './context.ts';
import { writeInlines } from './inlines.ts';
import { writeTag } from './tags.ts';

type Attribute = readonly [string, PlainValue | undefined];

const flag = (value: boolean | undefined): string | undefined => (value === undefined ? undefined : String(value));

const lengthText = (length: Length | undefined): string | undefined =>
  length === undefined ? undefined : typeof length === 'number' ? String(length) : `${length.value}${length.unit}`;

/** Attributes that reading kept aside. */
function extra(block: AnyBlock): Attribute[] {
  const meta: PlainObject | undefined = 'meta' in block ? block.meta : undefined;
  const attributes = meta?.attributes;
  return attributes !== null && typeof attributes === 'object' && !Array.isArray(attributes)
    ? Object.entries(attributes)
    : [];
}

/** A tag around some content. */
const around = (name: string, block: AnyBlock, attributes: readonly Attribute[], inner: string): string =>
  [writeTag(name, [...attributes, ...extra(block)]), ...(inner === '' ? [] : [inner]), `{% end${name} %}`].join('\n');

const captionOf = (block: { fragments?: Fragment[] }): readonly Block[] =>
  block.fragments?.find((one) => isPart(one, 'caption'))?.nodes ?? [];

/** A tag that stands alone unless it has a caption. */
function alone(
  name: string,
  block: AnyBlock & { fragments?: Fragment[] },
  attributes: readonly Attribute[],
  context: WriteContext,
  body?: string,
): string {
  const caption = writeBlocks(captionOf(block), context);
  const inner = caption === '' ? (body ?? '') : caption;
  if (inner === '') return writeTag(name, [...attributes, ...extra(block)]);
  return around(name, block, attributes, inner);
}

const labelled = (href: string, context: WriteContext): string =>
  writeInlines(
    [{ object: 'inline', type: 'link', data: { ref: { kind: 'url', url: href } }, nodes: [text(linkLabel(href))] }],
    {
      ...context,
      address: (ref: ContentRef) => (ref.kind === 'url' ? ref.url : ''),
      style: {},
    },
  );

const parts = { tabs: 'tab', stepper: 'step', columns: 'column', updates: 'update' } as const;

function partAttributes(block: AnyBlock): Attribute[] {
  switch (block.type) {
    case 'tabs-item':
      return [
        ['title', block.data?.title],
        ['icon', block.data?.icon],
        ['slug', block.data?.slug],
      ];
    case 'stepper-step':
      return [['icon', block.data?.icon]];
    case 'column':
      return [
        ['width', lengthText(block.data?.width)],
        ['valign', block.data?.verticalAlignment],
      ];
    case 'update': {
      const tags = block.data.tags?.flatMap((tag) => (tag.kind === 'tag' ? [tag.tag] : [])).join(',');
      return [
        ['date', block.data.date.replace(/T00:00:00(?:\.000)?Z$/, '')],
        ['tags', tags],
      ];
    }
    default:
      return [];
  }
}

/** Writes the blocks that are `{% tags %}`. */
export function writeTagBlock(block: AnyBlock, context: WriteContext): string {
  switch (block.type) {
    case 'hint':
      return around(
        'hint',
        block,
        [
          ['style', block.data.style],
          ['icon', block.data.icon],
        ],
        writeBlocks(block.nodes, context),
      );
    case 'if':
      return [`{% if ${block.data.expression} %}`, writeBlocks(block.nodes, context), '{% endif %}']
        .filter((line) => line !== '')
        .join('\n');
    case 'prompt': {
      const { description, icon, openInAIProviders, defaultExpanded } = block.data;
      const attributes: Attribute[] = [
        ['description', description],
        ['icon', icon],
        ['openInAIProviders', flag(openInAIProviders)],
        ['defaultExpanded', defaultExpanded],
      ];
      return around('prompt', block, attributes, writeBlocks(block.nodes, context));
    }
    case 'tabs':
    case 'stepper':
    case 'columns':
    case 'updates': {
      const attributes: Attribute[] =
        block.type === 'updates'
          ? [['format', block.data.format]]
          : block.type === 'stepper'
            ? []
            : [['fullWidth', flag(block.data?.fullWidth)]];
      const inner = block.nodes.map((part) =>
        around(parts[block.type], part, partAttributes(part), writeBlocks(part.nodes, context)),
      );
      return around(block.type, block, attributes, inner.join('\n\n'));
    }
    default:
      return writeVoid(block, context);
  }
}

function writeVoid(block: AnyBlock, context: WriteContext): string {
  switch (block.type) {
    case 'embed':
      return alone(
        'embed',
        block,
        [
          ['url', block.data.url],
          ['fullWidth', flag(block.data.fullWidth)],
        ],
        context,
      );
    case 'file':
    case 'drawing':
      if (block.data.ref === undefined) return '';
      return alone('file', block, [['src', context.address(block.data.ref, 'file')]], context);
    case 'content-ref': {
      const href = context.address(block.data.ref, 'page');
      return alone('content-ref', block, [['url', href]], context, labelled(href, context));
    }
    case 'reusable-content': {
      const caption = writeBlocks(captionOf(block), context);
      const tag = `{% include ${JSON.stringify(context.address(block.data.ref, 'reusable-content'))} %}`;
      return caption === '' ? tag : `${tag}\n${caption}\n{% endinclude %}`;
    }
    case 'swagger': {
      const href = context.address(block.data.ref, 'file');
      const { path, method, expanded, fullWidth } = block.data;
      const attributes: Attribute[] = [
        ['src', href],
        ['path', path],
        ['method', method],
        ['expanded', flag(expanded)],
        ['fullWidth', flag(fullWidth)],
      ];
      return alone('openapi', block, attributes, context, labelled(href, context));
    }
    case 'openapi-operation':
      return alone(
        'openapi-operation',
        block,
        [
          ['spec', specOf(block.data.ref)],
          ['path', block.data.path],
          ['method', block.data.method],
          ['headless', flag(block.data.headless)],
        ],
        context,
      );
    case 'openapi-webhook':
      return alone(
        'openapi-webhook',
        block,
        [
          ['spec', specOf(block.data.ref)],
          ['name', block.data.name],
          ['method', block.data.method],
          ['headless', flag(block.data.headless)],
        ],
        context,
      );
    case 'openapi-schemas':
      return alone(
        'openapi-schemas',
        block,
        [
          ['spec', specOf(block.data.ref)],
          ['schemas', block.data.schemas.join(',')],
          ['grouped', flag(block.data.grouped)],
          ['title', block.data.title],
        ],
        context,
      );
    case 'integration': {
      const { integration, block: name, props, url, fullWidth } = block.data;
      const attributes: Attribute[] = [...Object.entries(props), ['url', url], ['fullWidth', flag(fullWidth)]];
      return alone(`@${integration}/${name}`, block, attributes, context);
    }
    default:
      return '';
  }
}

const specOf = (ref: ContentRef): string => (ref.kind === 'openapi' ? ref.spec : '');

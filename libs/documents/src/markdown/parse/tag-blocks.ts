import type { AnyBlock, Block, Code, CodeData, ContentRef, Length, PlainObject } from '@bindery/contracts/document';
import type { Token } from 'markdown-it';
import { plainParagraph, present } from '../../model/build.ts';
import { isIntegrationTag, tagKind } from '../dialect.ts';
import { writeAttributes } from '../write/tags.ts';
import { readBlocks } from './blocks.ts';
import type { ParseContext } from './context.ts';
import type { TagSpan } from './scan.ts';
import { Values } from './tag-values.ts';
import { readIntegration, readVoid } from './tag-voids.ts';

const length = (value: string | undefined): Length | undefined => {
  const match = /^(\d+(?:\.\d+)?)(%|[a-z]{1,4})?$/.exec(value ?? '');
  if (match === null) return undefined;
  return match[2] === undefined ? Number(match[1]) : { unit: match[2], value: Number(match[1]) };
};

const block = (type: string, data: object | undefined, rest: object): AnyBlock =>
  ({
    object: 'block',
    type,
    ...(data === undefined || Object.keys(data).length === 0 ? {} : { data }),
    ...rest,
  }) as AnyBlock;

const containerOf: Readonly<Record<string, { type: string; part: string; partType: string }>> = {
  tabs: { type: 'tabs', part: 'tab', partType: 'tabs-item' },
  stepper: { type: 'stepper', part: 'step', partType: 'stepper-step' },
  columns: { type: 'columns', part: 'column', partType: 'column' },
  updates: { type: 'updates', part: 'update', partType: 'update' },
};

/** Turns a `{% tag %}` and what it encloses into a block. What has no place in that block stays beside it as text. */
export function readTag(span: TagSpan, inside: Token[], context: ParseContext): Block[] {
  const values = new Values(span.attributes.named);
  const made = readKnown(span, values, inside, context);
  if (made === undefined) return asText(span, readBlocks(inside, context));
  const unknown = unknownAttributes(span);
  return unknown === undefined ? [made] : [{ ...made, meta: { attributes: unknown } } as Block];
}

/** Attributes that no data field holds are kept aside. */
function unknownAttributes(span: TagSpan): PlainObject | undefined {
  if (isIntegrationTag(span.name)) return undefined;
  const known = tagKind(span.name)?.attributes ?? [];
  const unknown = [...span.attributes.named].filter(([name]) => !known.includes(name));
  return unknown.length === 0 ? undefined : Object.fromEntries(unknown);
}

const asText = (span: TagSpan, nodes: Block[]): Block[] => {
  const rest =
    span.attributes.rest === ''
      ? ''
      : ` ${span.name === 'if' ? span.attributes.rest : JSON.stringify(span.attributes.rest)}`;
  const tag = `{% ${span.name}${rest}${writeAttributes([...span.attributes.named])} %}`;
  const open = plainParagraph(tag);
  return span.close === undefined ? [open, ...nodes] : [open, ...nodes, plainParagraph(`{% end${span.name} %}`)];
};

function readKnown(span: TagSpan, values: Values, inside: Token[], context: ParseContext): Block | undefined {
  const { name } = span;
  if (containerOf[name] !== undefined) return readContainer(span, values, inside, context);
  if (isIntegrationTag(name)) return readIntegration(span, inside, context);
  const nodes = () => readBlocks(inside, context);
  switch (name) {
    case 'hint':
      return block(
        'hint',
        {
          style: values.word('style', ['info', 'warning', 'danger', 'success'] as const) ?? 'info',
          ...present({ icon: values.text('icon') }),
        },
        { nodes: nodes() },
      ) as Block;
    case 'if':
      return span.attributes.rest.length > 1024
        ? undefined
        : (block('if', { expression: span.attributes.rest }, { nodes: nodes() }) as Block);
    case 'code':
    case 'prompt':
      return readCodeTag(name, values, nodes());
    case 'tab':
    case 'step':
    case 'column':
    case 'update': {
      const parent = Object.keys(containerOf).find((one) => containerOf[one]?.part === name) ?? '';
      return readContainer(
        { ...span, name: parent, attributes: { named: new Map(), rest: '' } },
        values,
        inside,
        context,
        span,
      );
    }
    default:
      return readVoid(span, values, inside, context);
  }
}

function readContainer(
  span: TagSpan,
  values: Values,
  inside: Token[],
  context: ParseContext,
  orphan?: TagSpan,
): Block | undefined {
  const kind = containerOf[span.name];
  if (kind === undefined) return undefined;
  const parts: AnyBlock[] = [];
  let stray: Token[] = [];
  const settle = () => {
    const nodes = readBlocks(stray, context);
    stray = [];
    if (nodes.length > 0) parts.push(block(kind.partType, kind.part === 'update' ? { date: epoch } : {}, { nodes }));
  };
  if (orphan !== undefined) {
    const part = readPart(kind.part, kind.partType, orphan, inside, context);
    if (part === undefined) return undefined;
    parts.push(part);
  } else
    for (let index = 0; index < inside.length; index++) {
      const token = inside[index];
      if (token === undefined) break;
      const part = (token.meta as { span?: TagSpan } | null)?.span;
      if (token.type !== 'tag_open' || part?.name !== kind.part || token.level !== (inside[0]?.level ?? 0)) {
        stray.push(token);
        continue;
      }
      settle();
      let depth = 1;
      const start = ++index;
      for (; index < inside.length; index++) {
        depth += inside[index]?.nesting ?? 0;
        if (depth === 0) break;
      }
      const read = readPart(kind.part, kind.partType, part, inside.slice(start, index), context);
      if (read === undefined) return undefined;
      parts.push(read);
    }
  settle();
  const data: Record<string, object> = {
    tabs: present({ fullWidth: values.flag('fullWidth') }),
    columns: present({ fullWidth: values.flag('fullWidth') }),
    updates: { format: values.word('format', ['full', 'numeric', 'short'] as const) ?? 'full' },
  };
  return block(kind.type, data[span.name], {
    ...(span.name === 'columns' ? { isVoid: false } : {}),
    nodes: parts,
  }) as Block;
}

const epoch = '1970-01-01T00:00:00.000Z';

function readPart(
  name: string,
  type: string,
  span: TagSpan,
  inside: Token[],
  context: ParseContext,
): AnyBlock | undefined {
  const values = new Values(span.attributes.named);
  let data: object = {};
  if (name === 'tab')
    data = present({ title: values.text('title'), icon: values.text('icon'), slug: values.text('slug') });
  if (name === 'step') data = present({ icon: values.text('icon') });
  if (name === 'column')
    data = present({
      width: length(values.text('width')),
      verticalAlignment: values.word('valign', ['top', 'middle', 'bottom'] as const),
    });
  if (name === 'update') {
    const date = dateOf(values.text('date'));
    if (date === undefined) return undefined;
    const tags = values
      .text('tags')
      ?.split(',')
      .map((tag): ContentRef => ({ kind: 'tag', tag: tag.trim() }));
    data = { date, ...present({ tags }) };
  }
  const unknown = unknownAttributes(span);
  return block(type, data, {
    nodes: readBlocks(inside, context),
    ...(unknown === undefined ? {} : { meta: { attributes: unknown } }),
  });
}

/** A day becomes its first instant, so that every date is a full one. */
function dateOf(value: string | undefined): string | undefined {
  const day = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.exec(value ?? '');
  if (day === null) return undefined;
  const time = Date.parse(day[2] === undefined ? `${day[1]}T00:00:00.000Z` : day[0]);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

function readCodeTag(name: string, values: Values, nodes: Block[]): Block | undefined {
  const [only] = nodes;
  if (nodes.length !== 1 || only?.type !== 'code') return undefined;
  if (name === 'prompt') {
    const data = {
      description: values.text('description') ?? '',
      ...present({
        icon: values.text('icon'),
        openInAIProviders: values.flag('openInAIProviders'),
        defaultExpanded: values.word('defaultExpanded', ['hidden', 'partial', 'full'] as const),
      }),
    };
    return { object: 'block', type: 'prompt', data, nodes: [only] };
  }
  const data = present<CodeData>({
    title: values.text('title'),
    overflow: values.word('overflow', ['scroll', 'wrap'] as const),
    lineNumbers: values.flag('lineNumbers'),
    fullWidth: values.flag('fullWidth'),
    expandable: values.flag('expandable'),
    collapsedLineCount: values.whole('collapsedLineCount'),
  });
  if (Object.keys(data).length === 0) return undefined;
  return { ...only, data: { ...only.data, ...data } } satisfies Code;
}

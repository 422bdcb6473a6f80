import type { ButtonData, Inline, Mark, Phrasing, TextColor } from '@bindery/contracts/document';
import { present } from '../../model/build.ts';
import { isSafeUrl, markElements } from '../dialect.ts';
import type { ParseContext } from './context.ts';

export type Attributes = Readonly<Record<string, string>>;

const textColors = new Set<string>([
  'default',
  'green',
  'blue',
  'red',
  'orange',
  'yellow',
  'purple',
  'pink',
  'violet',
  'cyan',
  '$primary',
  '$info',
  '$success',
  '$warning',
  '$danger',
  '$tint',
]);
const colorOf = (style: string, property: string): TextColor | undefined => {
  const value = new RegExp(`(?:^|;)\\s*${property}\\s*:\\s*([$\\w]+)\\s*(?:;|$)`).exec(style)?.[1];
  return value !== undefined && textColors.has(value) ? (value as TextColor) : undefined;
};

/** The mark that an HTML element puts on its content. */
export function elementMark(name: string, attributes: Attributes): Mark | undefined {
  if (name === 'mark') {
    const style = attributes.style ?? '';
    const data = present<{ text?: TextColor; background?: TextColor }>({
      text: colorOf(style, 'color'),
      background: colorOf(style, 'background-color'),
    });
    return Object.keys(data).length === 0 ? undefined : { object: 'mark', type: 'color', data };
  }
  if (!Object.hasOwn(markElements, name) || Object.keys(attributes).length > 0) return undefined;
  return { object: 'mark', type: markElements[name as keyof typeof markElements] };
}

const classes = (attributes: Attributes): string[] => (attributes.class ?? '').split(/\s+/);

function buttonNode(label: string, attributes: Attributes, context: ParseContext): Inline | undefined {
  const names = classes(attributes);
  if (!names.includes('button')) return undefined;
  const action = attributes['data-action'];
  const href = attributes.href;
  const size = (['small', 'medium', 'large'] as const).find((one) => names.includes(one));
  const data: ButtonData = {
    label,
    kind: names.includes('secondary') ? 'secondary' : 'primary',
    ...present<{ size?: 'small' | 'medium' | 'large'; icon?: string }>({ size, icon: attributes['data-icon'] }),
  };
  if (action === 'search' || action === 'ask')
    data.action = { action, ...present<{ query?: string }>({ query: attributes['data-query'] }) };
  else if (action === 'select') data.action = { action, slug: attributes['data-slug'] ?? '' };
  else if (href !== undefined) {
    if (!isSafeUrl(href)) return undefined;
    data.ref = context.resolve(href, 'link');
  }
  return { object: 'inline', type: 'button', data, isVoid: true };
}

/** An HTML element that is an inline of its own, made from its text; undefined when it is none. */
export function elementInline(
  name: string,
  attributes: Attributes,
  text: string,
  context: ParseContext,
): Inline | undefined {
  switch (name) {
    case 'a':
      if (Object.hasOwn(attributes, 'data-mention') && attributes.href !== undefined && isSafeUrl(attributes.href))
        return {
          object: 'inline',
          type: 'mention',
          data: { ref: context.resolve(attributes.href, 'page') },
          isVoid: true,
        };
      return buttonNode(text, attributes, context);
    case 'button':
      return buttonNode(text, attributes, context);
    case 'code':
      return classes(attributes).includes('expression') && text !== ''
        ? { object: 'inline', type: 'expression', data: { expression: text }, isVoid: true }
        : undefined;
    case 'i': {
      const icon = classes(attributes)
        .find((one) => /^fa-[\w-]+$/.test(one))
        ?.slice(3);
      const color = colorOf(attributes.style ?? '', 'color');
      return icon === undefined
        ? undefined
        : {
            object: 'inline',
            type: 'icon',
            data: { icon, ...present<{ color?: TextColor }>({ color }) },
            isVoid: true,
          };
    }
    case 'span': {
      const code = attributes['data-code'];
      return attributes['data-tag'] === 'emoji' && code !== undefined && /^[0-9a-f-]{2,60}$/.test(code)
        ? { object: 'inline', type: 'emoji', data: { code }, isVoid: true }
        : undefined;
    }
    default:
      return undefined;
  }
}

/** An image in text. `dark` is the address of its variant for dark themes. */
export function imageInline(
  attributes: Attributes,
  dark: string | undefined,
  context: ParseContext,
): Inline | undefined {
  const source = attributes.src;
  if (source === undefined || !isSafeUrl(source) || (dark !== undefined && !isSafeUrl(dark))) return undefined;
  const size = attributes['data-size'];
  const ref = context.resolve(source, 'image');
  const rest = present<Omit<(Inline & { type: 'inline-image' })['data'], 'ref'>>({
    refDark: dark === undefined ? undefined : context.resolve(dark, 'image'),
    caption: attributes.title,
    alt: attributes.alt === '' ? undefined : attributes.alt,
    size: size === 'line' || size === 'original' ? size : undefined,
  });
  return { object: 'inline', type: 'inline-image', data: { ref, ...rest }, isVoid: true };
}

/** A link around some content; addresses that are not safe give no link. */
export function linkNode(href: string, title: string | undefined, nodes: Phrasing[], context: ParseContext): Inline {
  const ref = context.resolve(href, 'link');
  return {
    object: 'inline',
    type: 'link',
    data: { ref, ...present<{ title?: string }>({ title }) },
    nodes,
  };
}

import type { Block, Fragment, Image, Images, Length } from '@bindery/contracts/document';
import { isPart } from '../../model/build.ts';
import type { WriteContext } from './context.ts';
import { escapeAddress, escapeAttribute, escapeLabel } from './escape.ts';
import { writeCellBlocks } from './html-blocks.ts';
import { imageTag } from './html-inlines.ts';

const lengthText = (length: Length | undefined): string | undefined =>
  length === undefined ? undefined : typeof length === 'number' ? String(length) : `${length.value}${length.unit}`;

const captionOf = (block: { fragments?: Fragment[] }): readonly Block[] | undefined =>
  block.fragments?.find((one) => isPart(one, 'caption'))?.nodes;

/** Images as figures; one without caption and options as `![alt](address)`. */
export function writeImages(block: Images, context: WriteContext): string {
  const { align, fullWidth, withFrame } = block.data;
  const [only] = block.nodes;
  const options = [
    ['align', align],
    ['data-full-width', fullWidth],
    ['data-with-frame', withFrame],
  ].flatMap(([name, value]) => (value === undefined ? [] : [` ${name}="${value}"`]));
  if (only !== undefined && block.nodes.length === 1 && options.length === 0 && isSimple(only)) {
    return `![${escapeLabel(only.data.alt ?? '')}](${escapeAddress(context.address(only.data.ref, 'image'))})`;
  }
  const figures = block.nodes.map((image) => figure(image, context));
  if (figures.length === 1 && options.length === 0) return figures.join('');
  return `<div${options.join('')}>${figures.join(' ')}</div>`;
}

function isSimple(image: Image): boolean {
  const { refDark, width, height, alt } = image.data;
  return (
    refDark === undefined && width === undefined && height === undefined && alt !== '' && captionOf(image) === undefined
  );
}

function figure(image: Image, context: WriteContext): string {
  const { ref, refDark, alt, width, height } = image.data;
  const tag = imageTag(context.address(ref, 'image'), refDark && context.address(refDark, 'image'), [
    ['alt', alt],
    ['width', lengthText(width)],
    ['height', lengthText(height)],
  ]);
  const caption = captionOf(image);
  return `<figure>${tag}${caption === undefined ? '' : `<figcaption>${writeCellBlocks(caption, context, true)}</figcaption>`}</figure>`;
}

/** An HTML attribute with its value, for callers that build tags. */
export const attribute = (name: string, value: string): string => ` ${name}="${escapeAttribute(value)}"`;

import { limits } from '@bindery/contracts';
import { invalid } from '@bindery/service-kit';
import { fileTypeFromBuffer } from 'file-type';
import { imageSize } from 'image-size';
import { activeContentIn } from './svg.ts';

/** What a file is, by its own bytes. */
export interface ContentFacts {
  readonly contentType: string;
  readonly dimensions?: { readonly width: number; readonly height: number };
}

/** How many bytes from the start are looked at: enough for the size of a picture behind its metadata. */
export const headBytes = 512 * 1024;
/** A drawing is looked at whole; larger ones are refused. */
const maxSvgBytes = headBytes;
/** What the recogniser gets to see. It opens archives, so it must not see more. */
const sniffedBytes = 4100;

const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-icon': 'image/vnd.microsoft.icon',
  'application/x-zip-compressed': 'application/zip',
  'application/x-gzip': 'application/gzip',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'text/xml': 'application/xml',
};
/** Formats of which the recogniser sees only the wrapping; the declared name is then more exact. */
const wrappers: Readonly<Record<string, RegExp>> = {
  'application/zip': /^application\/(vnd\.|epub|java-archive|x-)/,
  'application/x-cfb': /^application\/(msword|vnd\.ms-)/,
  'application/xml': /^(application|text|image)\//,
  'video/mp4': /^(audio|video)\//,
  'application/ogg': /^(audio|video)\//,
  'application/gzip': /^application\//,
};
/** Formats with a signature: bytes without it are not one of these, whatever is declared. */
const recognisable = /^(image\/(?!svg)|audio\/|video\/|font\/|application\/(pdf|zip|gzip)$)/;

/** How files of a kind begin, for those that end before the recogniser can tell. */
const beginnings: Readonly<Record<string, string>> = {
  'image/png': '89504e470d0a1a0a',
  'image/jpeg': 'ffd8',
  'image/gif': '474946383',
  'image/webp': '52494646',
  'image/tiff': '4949',
  'application/pdf': '25504446',
  'application/zip': '504b',
  'application/gzip': '1f8b',
};
const isTruncated = (head: Uint8Array, declared: string): boolean => {
  const beginning = beginnings[declared];
  const start = Buffer.from(head.subarray(0, 8)).toString('hex');
  return beginning !== undefined && start !== '' && (start.startsWith(beginning) || beginning.startsWith(start));
};

const normalised = (declared: string): string => {
  const essence = declared.split(';')[0]?.trim().toLowerCase() ?? '';
  return aliases[essence] ?? essence;
};

/** What may stand before the root of a drawing; each ends at the first place where it can, so that nothing is tried twice. */
const svgPrologue: readonly RegExp[] = [
  /\s+/y,
  /<\?[^>]*>/y,
  /<!--(?:(?!-->)[\s\S])*-->/y,
  /<!doctype[^>[]*(?:\[[^\]]*\][^>]*)?>/iy,
];
const svgRoot = /<svg[\s>]/iy;

const looksLikeSvg = (head: Uint8Array): boolean => {
  const text = Buffer.from(head.subarray(0, 8192))
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  let at = 0;
  const skips = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  while (svgPrologue.some(skips));
  return skips(svgRoot);
};

const sizeOf = (head: Uint8Array): ContentFacts['dimensions'] => {
  try {
    const { width, height } = imageSize(head);
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    // Not a picture, or its size stands beyond the head: dimensions are optional.
    return undefined;
  }
};

/**
 * Decides the content type of a file and refuses what is not what it says.
 * @param input.head the file, or its first `headBytes`
 * @param input.declared by the caller or the server it came from
 * @param input.strict the caller declared it: contradicting bytes are an error, otherwise the bytes win
 * @throws Problem invalid, naming `field`
 */
export const checkContent = async (input: {
  readonly head: Uint8Array;
  readonly name: string;
  readonly declared: string;
  readonly strict: boolean;
  readonly field: string;
}): Promise<ContentFacts> => {
  const { head, strict, field } = input;
  const declared = normalised(input.declared);
  if (declared !== '' && !mediaType.test(declared))
    throw invalid('file.invalid_content_type', `${field}.contentType: is not a media type.`);

  if (looksLikeSvg(head) || declared === 'image/svg+xml') return svg(head, declared, strict, field);

  const sniffed = await fileTypeFromBuffer(head.subarray(0, sniffedBytes)).then(
    (type) => type && normalised(type.mime),
  );
  if (sniffed === undefined) {
    if (isTruncated(head, declared))
      throw invalid('file.truncated', `${field}: the file ends too early for ${declared}; it is not whole.`);
    if (recognisable.test(declared))
      throw invalid('file.content_type_mismatch', `${field}: the file is not ${declared}.`);
    return { contentType: declared === '' ? 'application/octet-stream' : declared };
  }
  const exact = wrappers[sniffed]?.test(declared) === true;
  const vague = declared === '' || declared === 'application/octet-stream';
  if (strict && !exact && !vague && declared !== sniffed)
    throw invalid('file.content_type_mismatch', `${field}: the file is ${sniffed}, not ${declared}.`);
  const dimensions = sniffed.startsWith('image/') ? sizeOf(head) : undefined;
  if (dimensions !== undefined && dimensions.width * dimensions.height > limits.file.maxPixels)
    throw invalid('file.too_many_pixels', `${field}: more than ${limits.file.maxPixels} pixels.`);
  return { contentType: exact ? declared : sniffed, ...(dimensions ? { dimensions } : {}) };
};

const svg = (head: Uint8Array, declared: string, strict: boolean, field: string): ContentFacts => {
  if (!looksLikeSvg(head)) throw invalid('file.content_type_mismatch', `${field}: the file is not image/svg+xml.`);
  if (strict && !['image/svg+xml', 'application/xml', 'application/octet-stream', ''].includes(declared))
    throw invalid('file.content_type_mismatch', `${field}: the file is image/svg+xml, not ${declared}.`);
  if (head.length >= maxSvgBytes)
    throw invalid('file.too_large', `${field}: an SVG drawing has at most ${maxSvgBytes - 1} bytes.`);
  const active = activeContentIn(Buffer.from(head).toString('utf8'));
  if (active !== undefined) throw invalid('file.active_svg', `${field}: the drawing contains ${active}.`);
  const dimensions = sizeOf(head);
  return { contentType: 'image/svg+xml', ...(dimensions ? { dimensions } : {}) };
};

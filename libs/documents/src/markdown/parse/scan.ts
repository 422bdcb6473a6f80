import { tagKind } from '../dialect.ts';
import { parseAttributes, type TagAttributes } from './tags.ts';

/** A block tag or `<details>` with the lines it spans. Line numbers count from 0. */
export interface TagSpan {
  readonly name: string;
  readonly attributes: TagAttributes;
  readonly first: number;
  /** Last line of the opening tag; more than `first` when attributes go over several lines. */
  readonly last: number;
  /** Line of the closing tag; absent when the tag is never closed. */
  close?: number;
}

/** What one pass over the lines of a page finds, so that block rules never search ahead. */
export interface Scan {
  readonly spans: ReadonlyMap<number, TagSpan>;
  readonly lines: readonly string[];
}

/** Markers of quotes and lists before the content of a line. */
export const containerPrefix = /^(?:[ \t>]|[-*+][ \t]+|\d{1,9}[.)][ \t]+)*/;
const tag = /^\{%\s*(end)?([@A-Za-z][\w@/.-]*)([\s\S]*?)%\}[ \t]*$/;
const fence = /^(`{3,}|~{3,})/;
const maxTagLines = 500;

interface Found {
  name: string;
  end: boolean;
  attributes: TagAttributes | undefined;
  last: number;
}

/** For every line the next line (itself included) that ends with `%}`. */
function tagEnds(lines: readonly string[]): Int32Array {
  const next = new Int32Array(lines.length).fill(-1);
  let end = -1;
  for (let line = lines.length - 1; line >= 0; line--) {
    if (/%\}[ \t]*$/.test(lines[line] ?? '')) end = line;
    next[line] = end;
  }
  return next;
}

function tagAt(lines: readonly string[], line: number, content: string, ends: Int32Array): Found | undefined {
  let last = line;
  let source = content;
  if (!content.includes('%}')) {
    last = ends[line] ?? -1;
    if (last < 0 || last - line > maxTagLines) return undefined;
    source = [content, ...lines.slice(line + 1, last + 1)].join('\n');
    if (source.indexOf('{%', 2) >= 0) return undefined;
  }
  const match = tag.exec(source);
  if (match === null) return undefined;
  const [, end, name = '', inside = ''] = match;
  if (inside.includes('%}') || tagKind(name) === undefined) return undefined;
  if (end !== undefined) return inside.trim() === '' ? { name, end: true, attributes: undefined, last } : undefined;
  if (name === 'if') {
    const condition = inside.trim();
    return condition === '' ? undefined : { name, end: false, attributes: { named: new Map(), rest: condition }, last };
  }
  const attributes = parseAttributes(inside);
  return attributes === undefined ? undefined : { name, end: false, attributes, last };
}

const detailsTag = /^<details(\s+open(?:="[^"]*")?)?\s*>\s*(?:<summary>.*)?$/i;

function detailsAt(content: string, line: number): Found | undefined {
  const open = detailsTag.exec(content);
  if (open !== null) {
    const named = new Map(open[1] === undefined ? [] : [['open', true] as const]);
    return { name: 'details', end: false, attributes: { named, rest: '' }, last: line };
  }
  return /^<\/details>\s*$/i.test(content)
    ? { name: 'details', end: true, attributes: undefined, last: line }
    : undefined;
}

/** Pairs all block tags of a page in one pass; tags inside fences and `<pre>` are code. */
export function scan(lines: readonly string[]): Scan {
  const spans = new Map<number, TagSpan>();
  const open: TagSpan[] = [];
  const openCount = new Map<string, number>();
  const count = (name: string, by: number) => openCount.set(name, (openCount.get(name) ?? 0) + by);
  const ends = tagEnds(lines);
  let fenced: string | undefined;
  let inPre = false;
  for (let line = 0; line < lines.length; line++) {
    const whole = lines[line] ?? '';
    const content = whole.slice(containerPrefix.exec(whole)?.[0].length ?? 0).trimEnd();
    if (fenced !== undefined) {
      const inside = whole.replace(/^[ \t>]*/, '').trimEnd();
      if (inside.startsWith(fenced) && inside.replaceAll(fenced.charAt(0), '') === '') fenced = undefined;
      continue;
    }
    if (inPre) {
      inPre = !content.includes('</pre>');
      continue;
    }
    const fenceMark = fence.exec(content)?.[1];
    if (fenceMark !== undefined && !(fenceMark.startsWith('`') && content.slice(fenceMark.length).includes('`'))) {
      fenced = fenceMark;
      continue;
    }
    if (content.startsWith('<pre') && !content.includes('</pre>')) {
      inPre = true;
      continue;
    }
    const found = content.startsWith('{%')
      ? tagAt(lines, line, content, ends)
      : content.startsWith('<')
        ? detailsAt(content, line)
        : undefined;
    if (found === undefined) continue;
    if (!found.end && found.attributes !== undefined) {
      const span: TagSpan = { name: found.name, attributes: found.attributes, first: line, last: found.last };
      spans.set(line, span);
      open.push(span);
      count(found.name, 1);
    } else if ((openCount.get(found.name) ?? 0) > 0) {
      for (let top = open.pop(); top !== undefined; top = open.pop()) {
        count(top.name, -1);
        if (top.name !== found.name) continue;
        top.close = line;
        break;
      }
    }
    line = found.last;
  }
  return { spans, lines };
}

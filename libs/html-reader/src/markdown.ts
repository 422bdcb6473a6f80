import { escapeText } from '@bindery/documents';
import { gfm } from '@joplin/turndown-plugin-gfm';
import TurndownService from 'turndown';
import { type DomElement, lineOf } from './dom.ts';

/** Styles of hints, by words that themes name such boxes with. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/danger|error|bug|critical/, 'danger'],
  [/warn|caution|attention|important/, 'warning'],
  [/success|tip|check/, 'success'],
  [/info|note|hint|example|seealso/, 'info'],
];
const box = /(?:^|[\s_-])(?:admonition|alert|callout|hint|notice)(?:[\s_-]|$)/;

const hintOf = (element: DomElement): string | undefined => {
  const { className } = element;
  if (!/^(?:DIV|ASIDE|SECTION)$/.test(element.nodeName) || !box.test(className)) return undefined;
  return hints.find(([words]) => words.test(className))?.[1];
};

/** Escapes as the dialect needs it, wherever in a line the text comes to stand. */
const escapeInDialect = (text: string): string =>
  escapeText(text, { before: '', after: '', lineStart: true, inLink: true })
    .replace(/\{(?=[%{])/g, '\\{')
    .replace(/\\\\\{/g, '\\{');

const fenceFor = (code: string): string => {
  const longest = Math.max(0, ...[...code.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  return '`'.repeat(Math.max(3, longest + 1));
};

/** Writes elements in the markdown dialect. */
export const createWriter = (): { readonly write: (content: DomElement) => string } => {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '*',
    hr: '***',
    emDelimiter: '_',
  });
  gfm(service);
  service.escape = escapeInDialect;
  // Rules that were added last are asked first.
  service.addRule('code', {
    filter: 'pre',
    replacement(_content, node) {
      const pre = node as unknown as DomElement;
      const code = pre.textContent.replace(/\r\n?/g, '\n').replace(/\n$/, '');
      const language = /language-(\S+)/.exec(pre.querySelector('code')?.className ?? '')?.[1] ?? '';
      const fence = fenceFor(code);
      return `\n\n${fence}${language}\n${code}\n${fence}\n\n`;
    },
  });
  service.addRule('hint', {
    filter: (node) => hintOf(node as unknown as DomElement) !== undefined,
    replacement(content, node) {
      const style = hintOf(node as unknown as DomElement) ?? 'info';
      return `\n\n{% hint style="${style}" %}\n${content.trim()}\n{% endhint %}\n\n`;
    },
  });
  service.addRule('details', {
    filter: 'details',
    replacement: (content) => `\n\n<details>\n\n${content.trim()}\n\n</details>\n\n`,
  });
  service.addRule('summary', {
    filter: 'summary',
    replacement: (_content, node) =>
      `<summary>${lineOf((node as unknown as DomElement).textContent)
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')}</summary>\n\n`,
  });
  service.addRule('small marks', {
    filter: ['sub', 'sup', 'kbd', 'mark'],
    replacement(content, node) {
      const name = node.nodeName.toLowerCase();
      return content.trim() === '' ? content : `<${name}>${content}</${name}>`;
    },
  });
  service.addRule('definition', { filter: 'dt', replacement: (content) => `\n\n**${content.trim()}**\n\n` });
  return { write: (content) => service.turndown(content as unknown as Parameters<typeof service.turndown>[0]) };
};

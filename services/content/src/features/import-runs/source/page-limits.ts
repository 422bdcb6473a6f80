import { limits } from '@bindery/contracts';

/** Why a page is too large; undefined when it is not. @param before characters of the pages before it */
export const tooLarge = (markdown: string, before: number): string | undefined => {
  const { maxLength, lines } = limits.markdown;
  if (markdown.length > maxLength) return `has more than ${maxLength} characters`;
  if (markdown.split('\n', lines + 1).length > lines) return `has more than ${lines} lines`;
  const { characters } = limits.importRun;
  if (before + markdown.length > characters) return `all pages together have more than ${characters} characters`;
  return undefined;
};

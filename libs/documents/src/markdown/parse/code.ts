import type { Code, CodeData, CodeLine, Phrasing } from '@bindery/contracts/document';
import { text } from '../../model/build.ts';

/** One line of code. */
export const codeLine = (nodes: Phrasing[], highlighted = false): CodeLine => ({
  object: 'block',
  type: 'code-line',
  ...(highlighted ? { data: { highlighted } } : {}),
  nodes,
});

/** A block of plain code; an empty `syntax` means none. */
export function codeBlock(source: string, data: CodeData): Code {
  const { syntax, ...rest } = data;
  return {
    object: 'block',
    type: 'code',
    data: { ...(syntax === undefined || syntax === '' ? {} : { syntax }), ...rest },
    nodes: source.split('\n').map((line) => codeLine(line === '' ? [] : [text(line)])),
  };
}

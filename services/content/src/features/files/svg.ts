import { Parser } from 'htmlparser2';

const scripting = new Set(['script', 'handler', 'listener', 'iframe', 'object', 'embed', 'html', 'meta', 'base']);
const reference = /^(href|xlink:href|src|action|formaction|from|to|values|by)$/;
const scriptUrl = /^(javascript|vbscript|data:text\/html|data:application)/i;

/** A URL as a browser reads it: white space and control characters before and inside the scheme do not count. */
const squeezed = (value: string): string => value.replace(/[\p{Cc}\p{Zs}\u200B\uFEFF]/gu, '');

/**
 * Finds what can run in an SVG drawing: scripts, event handlers, script URLs, entity declarations. Drawings are served so
 * that nothing in them runs; refusing these keeps them harmless also where somebody saves and opens one.
 * @returns what was found, for a message, or undefined when the drawing is inert
 */
export const activeContentIn = (text: string): string | undefined => {
  let found: string | undefined;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const local = name.toLowerCase().split(':').at(-1) ?? '';
        if (scripting.has(local)) found ??= `a ${local} element`;
        for (const [key, value] of Object.entries(attributes)) {
          const attribute = key.toLowerCase();
          if (/^(\w+:)?on/.test(attribute)) found ??= `an event handler (${attribute.slice(0, 40)})`;
          else if (reference.test(attribute) && value.split(';').some((url) => scriptUrl.test(squeezed(url))))
            found ??= `a script URL (${attribute})`;
        }
      },
      onprocessinginstruction(name, data) {
        if (/^!doctype/i.test(name) && /[[]|entity/i.test(data)) found ??= 'entity declarations';
        else if (/^\?xml-stylesheet/i.test(name)) found ??= 'a style sheet of its own';
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(text);
  return found ?? (/<!ENTITY/i.test(text) ? 'entity declarations' : undefined);
};

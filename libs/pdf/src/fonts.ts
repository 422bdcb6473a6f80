import { readFileSync } from 'node:fs';
import { create, type Font } from 'fontkit';
import { unpackWoff } from './woff.ts';

/** A style of text, which chooses the first font that is asked. */
export type FontStyle = 'regular' | 'bold' | 'italic' | 'boldItalic' | 'mono';

const files = {
  regular: 'NotoSans-Regular.ttf',
  bold: 'NotoSans-Bold.ttf',
  italic: 'NotoSans-Italic.ttf',
  boldItalic: 'NotoSans-BoldItalic.ttf',
  mono: 'NotoSansMono-latin.woff',
  monoExtended: 'NotoSansMono-latin-ext.woff',
  monoCyrillic: 'NotoSansMono-cyrillic.woff',
  monoGreek: 'NotoSansMono-greek.woff',
  chinese: 'NotoSansSC-Regular.woff',
  japanese: 'NotoSansJP-Regular.woff',
  korean: 'NotoSansKR-Regular.woff',
} as const;
export type FontName = keyof typeof files;
export const fontNames = Object.keys(files) as readonly FontName[];

const fallbacks = ['chinese', 'japanese', 'korean'] as const;
const kana = /[\u3040-\u30ff\uff66-\uff9f]/u;

const unpacked = new Map<FontName, Buffer>();

/** Bytes of a font, ready for the library. */
export const fontBytes = (name: FontName): Buffer => {
  const known = unpacked.get(name);
  if (known !== undefined) return known;
  const file = readFileSync(new URL(`../fonts/${files[name]}`, import.meta.url));
  const bytes = files[name].endsWith('.woff') ? unpackWoff(file) : file;
  unpacked.set(name, bytes);
  return bytes;
};

/** A piece of text that one font can show. */
export interface Run {
  readonly font: FontName;
  readonly text: string;
}

/** Chooses fonts; they are read when they are first needed. */
export const createFontChoice = () => {
  const loaded = new Map<FontName, Font>();
  const chosen = new Map<string, FontName>();
  const covers = (name: FontName, point: number): boolean => {
    let font = loaded.get(name);
    if (font === undefined) {
      const made = create(fontBytes(name));
      if (!('hasGlyphForCodePoint' in made)) throw new Error(`${name} is a collection of fonts`);
      font = made;
      loaded.set(name, font);
    }
    return font.hasGlyphForCodePoint(point);
  };
  const orderOf = (style: FontStyle, japanese: boolean): readonly FontName[] => {
    const asian: readonly FontName[] = japanese ? ['japanese', 'chinese', 'korean'] : fallbacks;
    return style === 'mono'
      ? ['mono', 'monoExtended', 'monoCyrillic', 'monoGreek', 'regular', ...asian]
      : [style, ...asian];
  };

  /**
   * Cuts text into runs; characters that no font has are shown by the first font as a box.
   * @param japanese characters that several scripts share are drawn the Japanese way
   */
  return (text: string, style: FontStyle, japanese = kana.test(text)): readonly Run[] => {
    const runs: { font: FontName; text: string }[] = [];
    for (const character of text) {
      const last = runs.at(-1);
      // What is not drawn goes with what stands before it, so that words stay together.
      if (last !== undefined && /[\s\u200b-\u200f]|\p{M}/u.test(character)) {
        last.text += character;
        continue;
      }
      const key = `${style}${japanese}${character}`;
      let font = chosen.get(key);
      if (font === undefined) {
        const order = orderOf(style, japanese);
        font = order.find((name) => covers(name, character.codePointAt(0) ?? 0)) ?? order[0] ?? 'regular';
        chosen.set(key, font);
      }
      if (last?.font === font) last.text += character;
      else runs.push({ font, text: character });
    }
    return runs;
  };
};
export type FontChoice = ReturnType<typeof createFontChoice>;

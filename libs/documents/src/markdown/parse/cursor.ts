import type { Token } from 'markdown-it';

/** Walks over the tokens of a page. */
export class Cursor {
  private position = 0;
  private readonly tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  get peek(): Token | undefined {
    return this.tokens[this.position];
  }

  next(): Token | undefined {
    return this.tokens[this.position++];
  }

  /** Takes the tokens up to the one that closes what was just opened, and steps over the closing one. */
  inside(): Token[] {
    const start = this.position;
    for (let depth = 1; this.position < this.tokens.length; this.position++) {
      depth += this.tokens[this.position]?.nesting ?? 0;
      if (depth === 0) break;
    }
    return this.tokens.slice(start, this.position++);
  }
}

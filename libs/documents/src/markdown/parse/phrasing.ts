import type { Inline, Mark, Phrasing } from '@bindery/contracts/document';

interface Piece {
  text: string;
  marks: Mark[];
  key: string;
  /** A line end of the source that is no line break of the text. */
  wrap: boolean;
}

const markKey = (marks: readonly Mark[]): string =>
  marks
    .map((mark) => (mark.type === 'color' ? `color ${mark.data.text ?? ''} ${mark.data.background ?? ''}` : mark.type))
    .join(',');

/**
 * Collects the inline content of a block in normal form: neighbours with the same marks are one leaf, with one exception
 * that keeps the author's line ends. A wrapped line is a leaf that holds exactly one space next to a leaf with the same
 * marks; every reader sees a space, and the writer puts the line end back.
 */
export class PhrasingBuilder {
  private readonly nodes: Phrasing[] = [];
  private pieces: Piece[] = [];
  private marks: Mark[] = [];
  private key = '';
  private readonly outer: { marks: Mark[]; key: string }[] = [];

  /** Marks everything that is added until `unmark`. A mark that is already there is not repeated. */
  mark(mark: Mark): void {
    this.outer.push({ marks: this.marks, key: this.key });
    if (mark.type !== 'color' && this.marks.some((one) => one.type === mark.type)) return;
    const kept = this.marks.filter((one) => one.type !== mark.type);
    const code = kept.filter((one) => one.type === 'code');
    this.marks = mark.type === 'code' ? [...kept, mark] : [...kept.filter((one) => one.type !== 'code'), mark, ...code];
    this.key = markKey(this.marks);
  }

  /** Takes back the last `mark`. */
  unmark(): void {
    const outer = this.outer.pop();
    if (outer === undefined) return;
    this.marks = outer.marks;
    this.key = outer.key;
  }

  /** The marks in force, to start the content of a nested node with. */
  get current(): Mark[] {
    return this.marks;
  }

  /** Begins with marks that surround the node whose content this is. */
  within(marks: Mark[]): this {
    this.marks = marks;
    this.key = markKey(marks);
    return this;
  }

  text(text: string): void {
    if (text === '') return;
    const last = this.pieces.at(-1);
    if (last !== undefined && !last.wrap && last.key === this.key) last.text += text;
    else this.pieces.push({ text, marks: this.marks, key: this.key, wrap: false });
  }

  /** Text of HTML, where a run of white space is one space, also across elements. */
  collapsed(text: string): void {
    const flat = text.replace(/[\t\n\f\r ]+/g, ' ');
    this.text(/[ \n]$/.test(this.pieces.at(-1)?.text ?? '') ? flat.replace(/^ /, '') : flat);
  }

  wrap(): void {
    if (this.pieces.at(-1)?.text.endsWith('\n') === true) return;
    this.pieces.push({ text: ' ', marks: this.marks, key: this.key, wrap: true });
  }

  inline(node: Inline): void {
    this.flush();
    this.nodes.push(node);
  }

  finish(): Phrasing[] {
    while (this.pieces.at(-1)?.wrap === true) this.pieces.pop();
    this.flush();
    return this.nodes;
  }

  private flush(): void {
    while (this.nodes.length === 0 && this.pieces[0]?.wrap === true) this.pieces.shift();
    const pieces = settle(this.pieces);
    this.pieces = [];
    if (pieces.length === 0) return;
    const leaves = pieces.map(({ text, marks }) => ({ object: 'leaf' as const, text, marks: [...marks] }));
    this.nodes.push({ object: 'text', leaves });
  }
}

/** Makes sure that exactly the wraps look like wraps. */
function settle(pieces: readonly Piece[]): Piece[] {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (last !== undefined && last.key === piece.key && isBlank(last) && isBlank(piece)) {
      last.text += piece.text;
      last.wrap = false;
    } else merged.push({ ...piece });
  }
  const settled: Piece[] = [];
  for (const [index, piece] of merged.entries()) {
    const last = settled.at(-1);
    if (!piece.wrap && last !== undefined && !last.wrap && last.key === piece.key) {
      last.text += piece.text;
      continue;
    }
    settled.push(piece);
    if (!piece.wrap) continue;
    const next = merged[index + 1];
    const before = settled.at(-2);
    if (before?.key !== piece.key && next?.key !== piece.key) settled.push({ ...piece, text: '', wrap: false });
  }
  return settled;
}

const isBlank = (piece: Piece): boolean => piece.text === ' ';

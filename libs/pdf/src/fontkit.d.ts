declare module 'fontkit' {
  /** As far as it is used here. */
  export interface Font {
    hasGlyphForCodePoint(point: number): boolean;
  }
  export interface FontCollection {
    readonly fonts: readonly Font[];
  }
  export function create(bytes: Uint8Array): Font | FontCollection;
}

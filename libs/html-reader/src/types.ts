/** A page of the web, as it came. */
export interface HtmlSource {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where it came from: relative addresses are resolved against it. */
  readonly url: string;
  /** Leave out what stands around the text (navigation, header, footer). `false` takes the whole body. */
  readonly trim: boolean;
}

/** What a page says, and where it leads. */
export interface HtmlPage {
  /** The first heading, else the title of the document; absent when there is neither. */
  readonly title?: string;
  readonly description?: string;
  /** The body in the markdown dialect of documents, without the title. Addresses are absolute. */
  readonly markdown: string;
  /** Absolute http and https addresses without fragments, in reading order, each once; at most `maxLinks`. */
  readonly links: readonly string[];
  /** The address that the page says to be its own. */
  readonly canonical?: string;
  /** The page asks robots not to keep it. */
  readonly noindex: boolean;
  /** Headings by the anchors that links lead to them with: the anchor that the document has instead. */
  readonly anchors: Readonly<Record<string, string>>;
  /** Addresses of the pictures in the body, each once; at most `maxImages`. */
  readonly images: readonly string[];
  /** Pictures that stand in the page itself, which are not taken along. */
  readonly inlineImages: number;
}

/** Why a page could not be read. */
export type HtmlFailure = 'depth' | 'time' | 'memory';
export type HtmlReading =
  | { readonly ok: true; readonly page: HtmlPage }
  | { readonly ok: false; readonly reason: HtmlFailure; readonly message: string };

/** Links of one page that are looked at. */
export const maxLinks = 2_000;
/** Pictures of one page that are named. */
export const maxImages = 200;

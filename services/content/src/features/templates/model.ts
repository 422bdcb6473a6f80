/** A page of a template. Markdown may link to pages of the template as `./<name>.md` and to its named links as `template:<name>`. */
export interface TemplatePage {
  /** Unique in the template. */
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly emoji?: string;
  /** Name of the page above, which comes earlier in the list. */
  readonly into?: string;
  readonly markdown: string;
}

/** A set of pages to begin with. */
export interface Template {
  /** What callers say to have it. */
  readonly id: string;
  readonly title: string;
  /** Links that callers can fill, with the address that they lead to otherwise. */
  readonly links: Readonly<Record<string, string>>;
  /** At most as many as one batch of edits takes. */
  readonly pages: readonly TemplatePage[];
}

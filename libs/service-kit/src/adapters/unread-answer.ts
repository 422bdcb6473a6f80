const beginning = '{"answer":{"status":200,"body":';
const mark = ',"etag":"';

/** A 200 whose body is read only for those who look into it; whoever passes it on takes its text. */
export class UnreadAnswer {
  readonly status = 200;
  readonly etag: string | undefined;
  /** The body as it came: what `JSON.stringify` makes of it. */
  readonly bodyText: string;
  #read: { readonly body: unknown } | undefined;

  constructor(bodyText: string, etag: string | undefined) {
    this.bodyText = bodyText;
    this.etag = etag;
  }

  get body(): unknown {
    this.#read ??= { body: JSON.parse(this.bodyText) };
    return this.#read.body;
  }
}

/**
 * Finds the body of an answer without reading it: an object right after the status, and behind it nothing or the version. What
 * else stands beside a body is text, so that another field behind it would not end as an object does; and no text holds a
 * quotation mark that is not escaped, so that what looks like a field at the end is one.
 * @param text of a {@link WireResult}, as `JSON.stringify` writes it
 * @returns undefined for whatever looks different, which is to be read
 */
export function unreadAnswer(text: string): UnreadAnswer | undefined {
  if (!text.startsWith(beginning) || !text.endsWith('}}')) return undefined;
  let end = text.length - 2;
  let etag: string | undefined;
  if (text[end - 1] === '"') {
    const at = text.lastIndexOf(mark);
    if (at < 0) return undefined;
    etag = text.slice(at + mark.length, end - 1);
    if (etag.includes('"') || etag.includes('\\')) return undefined;
    end = at;
  }
  const isObject = text[beginning.length] === '{' && text[end - 1] === '}';
  return isObject ? new UnreadAnswer(text.slice(beginning.length, end), etag) : undefined;
}

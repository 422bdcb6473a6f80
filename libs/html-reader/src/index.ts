export { createHtmlReader, type HtmlReader, type HtmlReaderOptions } from './reader.ts';
export { type HtmlFailure, type HtmlPage, type HtmlReading, type HtmlSource, maxImages, maxLinks } from './types.ts';

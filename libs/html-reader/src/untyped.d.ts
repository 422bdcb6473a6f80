declare module '@mixmark-io/domino' {
  export function createDocument(html: string): import('./dom.ts').DomDocument;
}
declare module '@joplin/turndown-plugin-gfm' {
  export function gfm(service: object): void;
}

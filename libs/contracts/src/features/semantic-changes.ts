import Type, { type TProperties, type TSchema } from 'typebox';
import { component } from '../kit/components.ts';
import { closed, Id, Uri, words } from '../kit/schema.ts';
import { JSONDocument } from '../schemas/document.ts';
import { ContentRef, union } from '../schemas/document-inlines.ts';
import type { ContentRef as ContentRefType, JSONDocument as DocumentType } from '../schemas/document-types.ts';
import { ChangeRequest } from './change-requests.ts';

const optional = Type.Optional;
const pair = (value: TSchema) => optional(closed({ before: optional(value), after: optional(value) }));
const Page = closed({
  id: Id(),
  type: words(['document', 'group', 'link', 'computed']),
  title: Type.String(),
  path: optional(Type.String()),
});
const File = closed({ id: Id(), name: Type.String(), contentType: Type.String(), downloadURL: Uri });
const ReusableContent = closed({ id: Id(), title: Type.String(), document: optional(Id()) });
const anyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object' });
const Dimensions = closed({ width: Type.Number(), height: Type.Number() });
const Value = Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] });

/** Both sides of one attribute; absent = it was not there. */
export interface Change<T> {
  before?: T;
  after?: T;
}
export interface ChangedPage {
  id: string;
  type: 'document' | 'group' | 'link';
  title: string;
  path?: string;
}
export interface ChangedFile {
  id: string;
  name: string;
  contentType: string;
  downloadURL: string;
}
export interface PageAttributeChanges {
  title?: Change<string>;
  description?: Change<string>;
  slug?: Change<string>;
  document?: Change<DocumentType>;
  cover?: Change<Record<string, unknown>>;
  emoji?: Change<string>;
  layout?: Change<Record<string, unknown>>;
  variables?: Change<Record<string, unknown>>;
  target?: Change<ContentRefType>;
}
/** One difference between two revisions, as people speak of it (gaps-filled section 10). */
export type SemanticChange =
  | { type: 'page_created' | 'page_deleted'; page: ChangedPage }
  | { type: 'page_edited'; page: ChangedPage; attributes: PageAttributeChanges }
  | { type: 'page_moved'; page: ChangedPage; parent: Change<ChangedPage> }
  | { type: 'file_created' | 'file_deleted'; file: ChangedFile }
  | {
      type: 'file_edited';
      file: ChangedFile;
      attributes: {
        name?: Change<string>;
        downloadURL?: Change<string>;
        size?: Change<number>;
        contentType?: Change<string>;
        dimensions?: Change<{ width: number; height: number }>;
      };
    }
  | { type: 'variables_edited'; variables: Record<string, Change<string | number | boolean>> }
  | {
      type: 'reusable_content_created' | 'reusable_content_deleted';
      reusableContent: { id: string; title: string; document?: string };
    }
  | {
      type: 'reusable_content_edited';
      reusableContent: { id: string; title: string; document?: string };
      attributes: { title?: Change<string>; document?: Change<DocumentType> };
    };

const semantic = (type: SemanticChange['type'], fields: TProperties) => closed({ type: Type.Literal(type), ...fields });

/** The differences between two revisions (gaps-filled section 10). */
export const RevisionSemanticChanges = component(
  'RevisionSemanticChanges',
  closed({
    changes: Type.Array(
      union<SemanticChange>('type', {
        a: semantic('page_created', { page: Page }),
        b: semantic('page_deleted', { page: Page }),
        c: semantic('page_edited', {
          page: Page,
          attributes: closed({
            title: pair(Type.String()),
            description: pair(Type.String()),
            slug: pair(Type.String()),
            document: pair(JSONDocument),
            cover: pair(anyObject),
            emoji: pair(Type.String()),
            layout: pair(anyObject),
            variables: pair(anyObject),
            target: pair(ContentRef),
          }),
        }),
        d: semantic('page_moved', { page: Page, parent: closed({ before: optional(Page), after: optional(Page) }) }),
        e: semantic('file_created', { file: File }),
        f: semantic('file_deleted', { file: File }),
        g: semantic('file_edited', {
          file: File,
          attributes: closed({
            name: pair(Type.String()),
            downloadURL: pair(Uri),
            size: pair(Type.Number()),
            contentType: pair(Type.String()),
            dimensions: pair(Dimensions),
          }),
        }),
        h: semantic('variables_edited', {
          variables: Type.Record(Type.String(), closed({ before: optional(Value), after: optional(Value) })),
        }),
        i: semantic('reusable_content_created', { reusableContent: ReusableContent }),
        j: semantic('reusable_content_deleted', { reusableContent: ReusableContent }),
        k: semantic('reusable_content_edited', {
          reusableContent: ReusableContent,
          attributes: closed({ title: pair(Type.String()), document: pair(JSONDocument) }),
        }),
      }),
    ),
    more: optional(Type.Integer({ minimum: 1, description: 'How many were left out.' })),
    mergedFrom: optional(ChangeRequest),
  }),
);

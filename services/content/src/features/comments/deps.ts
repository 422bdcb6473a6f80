import type { Repository } from '@bindery/event-sourcing';
import type { Collection } from '@bindery/read-store';
import type { CursorCodec } from '@bindery/service-kit';
import type { Access } from '../access/index.ts';
import type { ChangeRequestLookup } from '../change-requests/index.ts';
import type { RevisionStore } from '../revisions/index.ts';
import type { CommentCommand } from './decider.ts';
import type { CommentEvent } from './events.ts';
import type { CommentDocument, ReplyDocument } from './read-model/document.ts';
import type { CommentState } from './state.ts';

export type CommentRepository = Repository<CommentState, CommentCommand, CommentEvent>;
/** The live read models, for reading. */
export type CommentsCollection = Pick<Collection<CommentDocument>, 'get' | 'getMany' | 'query' | 'count'>;
export type RepliesCollection = Pick<Collection<ReplyDocument>, 'get' | 'query' | 'count'>;

/** Told when the number of open comments of a place changed, after the document is written. */
export interface OpenCountsChanged {
  space(spaceId: string): Promise<void>;
  changeRequest(changeRequestId: string): Promise<void>;
}

/** What comments work with. */
export interface CommentDeps {
  readonly access: Access;
  readonly repository: CommentRepository;
  readonly comments: CommentsCollection;
  readonly replies: RepliesCollection;
  readonly changeRequests: Pick<ChangeRequestLookup, 'find'>;
  readonly reader: Pick<RevisionStore, 'tree' | 'documents' | 'bodies'>;
  readonly counts: OpenCountsChanged;
  readonly cursors: CursorCodec;
}

import type { commentOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { CommentDeps } from '../deps.ts';
import { deleteComment, getComment, listComments, postComment, updateComment } from './comments.ts';
import { deleteReply, getReply, listReplies, postReply, updateReply } from './replies.ts';

/** The operations on comments and replies: the same for spaces and for change requests. */
export const createCommentHandlers = (deps: CommentDeps): HandlersFor<typeof commentOperations> => ({
  listCommentsInSpace: listComments(deps),
  postCommentInSpace: postComment(deps),
  getCommentInSpace: getComment(deps),
  updateCommentInSpace: updateComment(deps),
  deleteCommentInSpace: deleteComment(deps),
  listCommentRepliesInSpace: listReplies(deps),
  postCommentReplyInSpace: postReply(deps),
  getCommentReplyInSpace: getReply(deps),
  updateCommentReplyInSpace: updateReply(deps),
  deleteCommentReplyInSpace: deleteReply(deps),
  listCommentsInChangeRequest: listComments(deps),
  postCommentInChangeRequest: postComment(deps),
  getCommentInChangeRequest: getComment(deps),
  updateCommentInChangeRequest: updateComment(deps),
  deleteCommentInChangeRequest: deleteComment(deps),
  listCommentRepliesInChangeRequest: listReplies(deps),
  postCommentReplyInChangeRequest: postReply(deps),
  getCommentReplyInChangeRequest: getReply(deps),
  updateCommentReplyInChangeRequest: updateReply(deps),
  deleteCommentReplyInChangeRequest: deleteReply(deps),
});

import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoDriverError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoSystemError,
  MongoTopologyClosedError,
} from 'mongodb';
import { ReadStoreUnusable } from '../../errors.ts';
import { ReadStoreUnavailable } from '../../port.ts';

// Codes of the server: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
const DUPLICATE_KEY = 11000;
const TOO_LARGE = new Set([10334, 17419, 17420, 17280]);
const NO_COLLECTION = 26;
const NO_INDEX = 27;
const INDEX_CONFLICT = new Set([85, 86]);
const COMMAND_NOT_FOUND = new Set([59, 115, 238]);
/** The server, the network or the moment is at fault; the same command may succeed later. */
const UNAVAILABLE = new Set([
  6, 7, 24, 43, 46, 50, 63, 64, 79, 89, 91, 94, 100, 112, 117, 133, 134, 136, 146, 150, 175, 189, 202, 237, 246, 249,
  251, 262, 276, 279, 292, 317, 358, 384, 462, 9001, 10058, 10107, 11600, 11601, 11602, 12586, 12587, 13388, 13435,
  13436, 14031,
]);
/** Wrong or missing credentials or rights; they may be put right while the service runs. */
const REFUSED = new Set([11, 13, 18, 8000]);
/** A read that failed so may be repeated once (specification of retryable reads). */
const RETRYABLE_READS = new Set([6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);
/** Labels of the driver and the server on what may be tried again. */
const PASSING = ['RetryableWriteError', 'RetryableError', 'TransientTransactionError', 'SystemOverloadedError'];
/** Names of driver errors that have no class of their own in its types. */
const PASSING_NAMES = new Set([
  'MongoWaitQueueTimeoutError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoOperationTimeoutError',
  'MongoExpiredSessionError',
  'MongoStalePrimaryError',
  'MongoServerClosedError',
]);

/** Whether a unique index refused a document (`_id` included). */
export const isDuplicateKey = (error: unknown): error is MongoServerError =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY;

/** Whether the command needs a collection that is not there. */
export const isNoCollection = (error: unknown): boolean =>
  error instanceof MongoServerError && (error.code === NO_COLLECTION || error.message === 'ns not found');

/** Whether the index is not there (any more). */
export const isNoIndex = (error: unknown): boolean => error instanceof MongoServerError && error.code === NO_INDEX;

/** Whether a read that failed so may well succeed at once: the connection broke, or another server is the primary now. */
export const isWorthRepeating = (error: unknown): boolean =>
  error instanceof MongoNetworkError || (error instanceof MongoServerError && RETRYABLE_READS.has(Number(error.code)));

/** Whether an index is there that has the name of a wanted one, or its key under another name. */
export const isIndexConflict = (error: unknown): boolean =>
  error instanceof MongoServerError && INDEX_CONFLICT.has(Number(error.code));

/** Whether the server does not know the command. */
export const isUnknownCommand = (error: unknown): boolean =>
  error instanceof MongoServerError && COMMAND_NOT_FOUND.has(Number(error.code));

/**
 * Positions of the writes of a bulk that a unique index refused.
 * @throws what went wrong otherwise: of several failures the one that says most about the state of the server
 */
export const refusedPositions = (error: unknown): readonly number[] => {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  // Refusals are no news where it is not known whether the others will last.
  if (error.result.getWriteConcernError() !== undefined) throw error;
  return errors.map(({ index }) => index);
};

/**
 * What is behind a failed bulk. The driver wraps failures of the network and of the choice of a server, without their kind;
 * and gives a bulk with several failures the code of the first, which may be no more than a refused duplicate.
 */
const behindBulk = (error: MongoBulkWriteError): MongoError => {
  const { errorResponse } = error;
  if (errorResponse instanceof MongoError) return errorResponse;
  const unacknowledged = error.result.getWriteConcernError();
  if (unacknowledged !== undefined)
    return new MongoServerError({ message: unacknowledged.errmsg ?? error.message, code: unacknowledged.code });
  const other = [error.writeErrors].flat().find(({ code }) => code !== DUPLICATE_KEY);
  return other === undefined ? error : new MongoServerError({ message: other.errmsg ?? '', code: other.code });
};

/** The name of the index that refused a document, or undefined when the server does not tell. */
export const refusingIndex = (message: string): string | undefined => / index: (.+?) dup key/.exec(message)?.[1];

/**
 * The one place where failures of the driver and the server become those of the port. What is neither (a mistake of the
 * calling code, an error of the port already) stays as it is.
 */
export const translate = (error: unknown): unknown => {
  if (!(error instanceof MongoError))
    return isOfNetwork(error)
      ? new ReadStoreUnavailable(`the document database: ${error.message}`, { cause: error })
      : error;
  const options = { cause: error };
  if (error instanceof MongoBulkWriteError) {
    const behind = behindBulk(error);
    if (behind !== error) {
      const translated = translate(behind);
      return translated === behind ? error : translated;
    }
  }
  if (isPassing(error)) return new ReadStoreUnavailable(`the document database: ${error.message}`, options);
  if (error instanceof MongoServerError) {
    if (REFUSED.has(Number(error.code)))
      return new ReadStoreUnavailable(`the document database refuses access: ${error.message}`, options);
    if (TOO_LARGE.has(Number(error.code)))
      return new RangeError('a document is larger than the document database takes', options);
    return error;
  }
  // Among them servers too old for the driver, and answers that are none of the protocol.
  if (error instanceof MongoDriverError && error.name === 'MongoCompatibilityError')
    return new ReadStoreUnusable(`the document database cannot be used: ${error.message}`, options);
  return error;
};

const isPassing = (error: MongoError): boolean =>
  error instanceof MongoNetworkError ||
  error instanceof MongoSystemError ||
  error instanceof MongoNotConnectedError ||
  error instanceof MongoTopologyClosedError ||
  error instanceof MongoClientClosedError ||
  PASSING_NAMES.has(error.name) ||
  PASSING.some((label) => error.hasErrorLabel(label)) ||
  (error instanceof MongoServerError && UNAVAILABLE.has(Number(error.code)));

/** Some failures of sockets pass through the driver as they are. */
const isOfNetwork = (error: unknown): error is Error =>
  typeof error === 'object' &&
  error !== null &&
  'syscall' in error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^E[A-Z]+$/.test(error.code);

import { Long } from 'mongodb';
import type { Connection } from './connection.ts';
import { ROW, type Row } from './documents.ts';
import { isWorthRepeating } from './errors.ts';

/** What a server says of rows: all of them in the first answer, unless they are too large for one. */
interface Answer {
  readonly cursor: { readonly id: number | Long; readonly firstBatch: readonly Row[] };
}

/**
 * Reads rows by their ids with a plain command instead of the driver's cursor, which takes a third more CPU. The driver does
 * not repeat plain commands: what is worth it is asked for again in its ordinary way, which is the repeat, and so is what does
 * not fit into one answer.
 * @param name of the server's collection
 * @param ids not empty, each once
 * @param ordinary reads the same rows through a cursor
 */
export const rowsById = async (
  connection: Connection,
  name: string,
  ids: readonly string[],
  ordinary: () => Promise<readonly Row[]>,
): Promise<readonly Row[]> => {
  const { database, maxTimeMS } = connection;
  const [first = '', ...others] = ids;
  const command = {
    find: name,
    filter: { _id: others.length === 0 ? first : { $in: ids } },
    projection: ROW,
    limit: ids.length,
    // One more than there can be: the server leaves no cursor open.
    batchSize: ids.length + 1,
    maxTimeMS,
    // A plain command takes over nothing of what is promised of the database.
    readConcern: database.readConcern,
  };
  let answer: Answer;
  try {
    answer = (await database.command(command, { readPreference: database.readPreference })) as Answer;
  } catch (error) {
    if (!isWorthRepeating(error)) throw error;
    return ordinary();
  }
  const { id, firstBatch } = answer.cursor;
  if (Number(id) === 0) return firstBatch;
  // One that cannot be ended now is ended by the server itself after some minutes: no reason to fail a read.
  await database.command({ killCursors: name, cursors: [Long.fromValue(id)] }).catch(() => undefined);
  return ordinary();
};

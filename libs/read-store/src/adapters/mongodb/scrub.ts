import type { Connection } from './connection.ts';
import { isUnknownCommand } from './errors.ts';

/**
 * Has the server rewrite the files of these collections, which gives up the space of what was overwritten and removed.
 * It reaches the files of the primary alone. Not within reach of any command: copies on other members (compact them in
 * turn, or resync), the operation log until it has moved past the change, the journal until it is recycled, backups.
 * A server without the command keeps no such files, or gives no way to shrink them.
 */
export const compactAll = async (connection: Connection, names: readonly string[]): Promise<void> => {
  for (const name of names)
    try {
      await connection.maintain((database) => database.command({ compact: name, force: true }));
    } catch (error) {
      if (!isUnknownCommand(error)) throw error;
    }
};

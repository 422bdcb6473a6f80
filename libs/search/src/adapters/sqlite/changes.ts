import { createHash } from 'node:crypto';
import type { SearchChange, SearchPage } from '../../port.ts';
import { indexText, runsOf, visible } from '../../text/tokens.ts';
import { type Database, PAGES_PER_SPACE } from './database.ts';

/** What a batch does to the words of the index, by key of the page. */
export interface WordChanges {
  /** Pages whose former words go. */
  readonly stale: Set<number>;
  /** Pages whose words come. */
  readonly fresh: Map<number, SearchPage>;
}

/**
 * Applies one change to the tables, inside the transaction that is open, and notes what it does to the words. They are
 * written at the end ({@link forgetWords}, {@link addWords}): the full-text engine gathers its work in memory only
 * while nothing else is written in between and keys grow.
 */
export const applyChange = (database: Database, words: WordChanges, change: SearchChange): void => {
  switch (change.kind) {
    case 'put':
      putPage(database, words, change.page);
      return;
    case 'remove-page':
      removePage(database, words, change.spaceId, change.pageId, change.revision);
      return;
    case 'remove-space':
      removeSpace(database, words, change.spaceId);
  }
};

/** Takes the former words of a page out. */
export const forgetWords = (database: Database, key: number): void => {
  database.run('DELETE FROM head WHERE rowid=?', key);
  database.run('DELETE FROM full WHERE rowid=?', key);
};

/** Puts the words of a page in. */
export const addWords = (database: Database, key: number, page: SearchPage): void => {
  const title = indexText(page.title);
  const headings = indexText(page.sections.map((section) => section.title).join('\n'));
  const body = indexText(`${page.description}\n${page.sections.map((section) => section.text).join('\n')}`);
  database.run(
    'INSERT INTO head(rowid, exact, title, headings) VALUES(?,?,?,?)',
    key,
    exactToken(page.title),
    title,
    headings,
  );
  database.run('INSERT INTO full(rowid, title, headings, body) VALUES(?,?,?,?)', key, title, headings, body);
};

/** A token for a whole title that no text can hold: what begins it is neither letter nor digit. */
export const exactToken = (title: string): string => {
  const words = Array.from(runsOf(visible(title)), ({ text }) => text).join(' ');
  return `\ue000${createHash('sha256').update(words).digest('hex').slice(0, 20)}`;
};

const putPage = (database: Database, words: WordChanges, page: SearchPage): void => {
  const key = claim(database, words, page.spaceId, page.organizationId, page);
  if (key === undefined) return;
  words.fresh.set(key, page);
  store(database, key, page, [
    page.title,
    page.path,
    JSON.stringify(page.ancestors),
    page.description,
    JSON.stringify(page.sections),
  ]);
};

const removePage = (
  database: Database,
  words: WordChanges,
  spaceId: string,
  pageId: string,
  revision: number,
): void => {
  const key = claim(database, words, spaceId, undefined, { pageId, revision });
  if (key === undefined) return;
  words.fresh.delete(key);
  store(database, key, { pageId, revision }, [null, null, null, null, null]);
};

const store = (
  database: Database,
  key: number,
  page: { readonly pageId: string; readonly revision: number },
  content: (string | null)[],
): void => {
  database.run(
    `INSERT INTO pages(key, space, page, revision, title, path, ancestors, description, sections) VALUES(?,?,?,?,?,?,?,?,?)
     ON CONFLICT(key) DO UPDATE SET revision=excluded.revision, title=excluded.title, path=excluded.path,
       ancestors=excluded.ancestors, description=excluded.description, sections=excluded.sections`,
    key,
    Math.floor(key / PAGES_PER_SPACE),
    page.pageId,
    page.revision,
    ...content,
  );
};

const removeSpace = (database: Database, words: WordChanges, spaceId: string): void => {
  const space = database.first('SELECT number FROM spaces WHERE id=?', spaceId);
  if (space === undefined) return;
  const number = Number(space[0]);
  const range = [number * PAGES_PER_SPACE, (number + 1) * PAGES_PER_SPACE - 1];
  for (const [found] of database.all(
    'SELECT key FROM pages WHERE key BETWEEN ? AND ? AND title IS NOT NULL',
    ...range,
  )) {
    const key = Number(found);
    // Words of an older version may be stale already.
    if (!words.fresh.delete(key)) words.stale.add(key);
  }
  database.run('DELETE FROM pages WHERE key BETWEEN ? AND ?', ...range);
  database.run('DELETE FROM spaces WHERE number=?', number);
};

/** The key under which a page is written now; undefined when the change is too old. */
const claim = (
  database: Database,
  words: WordChanges,
  spaceId: string,
  organization: string | undefined,
  { pageId, revision }: { readonly pageId: string; readonly revision: number },
): number | undefined => {
  const space = spaceNumber(database, spaceId, organization);
  const known = database.first(
    'SELECT key, revision, title IS NOT NULL FROM pages WHERE page=? AND space=?',
    pageId,
    space,
  );
  if (known === undefined) {
    const last = database.first('SELECT max(key) FROM pages WHERE key < ?', (space + 1) * PAGES_PER_SPACE)?.[0];
    return Math.max(Number(last ?? 0), space * PAGES_PER_SPACE) + 1;
  }
  const [key, stored, hasWords] = known;
  if (Number(stored) >= revision) return undefined;
  if (hasWords === 1 && !words.fresh.has(Number(key))) words.stale.add(Number(key));
  return Number(key);
};

const spaceNumber = (database: Database, id: string, organization: string | undefined): number => {
  const known = database.first('SELECT number, organization FROM spaces WHERE id=?', id);
  if (known === undefined) {
    database.run('INSERT INTO spaces(id, organization) VALUES(?,?)', id, organization ?? '');
    return Number(database.first('SELECT number FROM spaces WHERE id=?', id)?.[0]);
  }
  // A removal may have been first, or the space has moved.
  if (organization !== undefined && known[1] !== organization)
    database.run('UPDATE spaces SET organization=? WHERE id=?', organization, id);
  return Number(known[0]);
};

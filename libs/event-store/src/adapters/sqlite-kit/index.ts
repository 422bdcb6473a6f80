export * from './change-feed.ts';
export * from './group-commit.ts';
export * from './open-database.ts';
export * from './rows.ts';

export * from './child-script.ts';
export * from './crash-loop.ts';

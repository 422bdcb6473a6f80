export * from './otlp-receiver.ts';
export * from './recording-telemetry.ts';
export * from './span-tree.ts';

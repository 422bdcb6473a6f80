export * from './certificate.ts';
export * from './identity-provider.ts';

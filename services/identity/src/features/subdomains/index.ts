export { type SubdomainEvent, subdomainAggregate } from './aggregate.ts';
export { createSubdomainClaims, type SubdomainClaims } from './claims.ts';
export { getSubdomainRoute } from './routes.ts';

export { type SubdomainEvent, subdomainAggregate } from './aggregate.ts';
export { createSubdomainClaims } from './claims.ts';
export { getSubdomainRoute } from './routes.ts';

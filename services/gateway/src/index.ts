export type { RawRoute, RawRouteContext } from '@bindery/service-kit';
export { type GatewayConfig, gatewayConfig, gatewaySettings } from './config.ts';
export type { ServiceAdmin } from './features/own-handlers.ts';
export { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export { bearerToken, type ResolveToken } from './pipeline/authenticate.ts';
export { embedEpochKey } from './pipeline/embeds.ts';

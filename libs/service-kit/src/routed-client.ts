import type { ServiceName } from '@bindery/contracts';
import { noHandler } from './in-process-client.ts';
import type { ServiceClient } from './operation.ts';

/** Calls each operation at the service that owns it. */
export const createRoutedClient = (owners: Readonly<Partial<Record<ServiceName, ServiceClient>>>): ServiceClient => ({
  call(operation, context, request) {
    const client = owners[operation.owner];
    return client === undefined ? Promise.reject(noHandler(operation.id)) : client.call(operation, context, request);
  },
});

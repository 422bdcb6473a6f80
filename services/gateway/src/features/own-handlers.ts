import type { apiOperations } from '@bindery/contracts';
import { type Clock, conflict, type HandlersFor, invalid, type Service } from '@bindery/service-kit';
import type { GatewayConfig } from '../config.ts';

/** A service as the gateway administers it; the composition root passes the services themselves. */
export type ServiceAdmin = Pick<Service, 'name' | 'notReady' | 'status' | 'rebuild' | 'parked'>;

/** Handlers of the operations that the gateway answers by itself. */
export function createOwnHandlers(
  services: readonly ServiceAdmin[],
  config: Pick<GatewayConfig, 'version' | 'build' | 'profile'>,
  clock: Clock,
): HandlersFor<typeof apiOperations> {
  const startedAt = clock.now().toISOString();
  let rebuilding = false;

  const chosen = (names: readonly string[] | undefined): readonly ServiceAdmin[] => {
    const unknown = names?.find((name) => !services.some((service) => service.name === name));
    if (unknown !== undefined) {
      const known = services.map((service) => service.name).join(', ');
      throw invalid(
        'rebuild.unknown_service',
        `body.services: has the unknown service "${unknown}"; there are ${known}`,
      );
    }
    return names ? services.filter((service) => names.includes(service.name)) : services;
  };

  return {
    getApiInformation: async () => ({ status: 200, body: { version: config.version, build: config.build } }),

    getInstanceStatus: async () => ({
      status: 200,
      body: {
        object: 'instance-status',
        version: config.version,
        profile: config.profile,
        startedAt,
        ready: services.every((service) => service.notReady().length === 0),
        services: (await Promise.all(services.map((service) => service.status()))).map(
          ({ service, events, projections, publisher, reactors = [] }) => ({
            service,
            events,
            projections: [...projections],
            ...(publisher && { publisher }),
            reactors: reactors.map(({ parked, ...reactor }) => ({ ...reactor, parked: parked.length })),
          }),
        ),
      },
    }),

    rebuildProjections: async (_context, { body }) => {
      const wanted = chosen(body?.services);
      if (rebuilding) throw conflict('rebuild.running', 'A rebuild is running already.');
      rebuilding = true;
      try {
        const results = [];
        for (const service of wanted) {
          const { events, durationMs } = await service.rebuild(body?.projections);
          results.push({ service: service.name, events, durationMs });
        }
        return { status: 200, body: { services: results } };
      } finally {
        rebuilding = false;
      }
    },
  };
}

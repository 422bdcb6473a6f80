import { setTimeout as delay } from 'node:timers/promises';
import { rawRoutes } from '@bindery/contracts';
import { gatewayProcessSettings, openCache, openDatabase, runProcess } from '@bindery/distributed';
import { build, commaSeparated, version } from '@bindery/service-kit';
import { createHttpClient } from '@bindery/service-kit/http-client';
import { createRemoteRawRoute, createRemoteService } from '@bindery/service-kit/remote-service';
import { createTransport } from '@bindery/service-kit/transport';
import { gatewayConfig, gatewaySettings } from './config.ts';
import { createGateway } from './gateway.ts';

/** The gateway as a process of its own (DESIGN section 6, distributed profile). */
await runProcess({
  name: 'gateway',
  version,
  settings: { ...gatewaySettings, ...gatewayProcessSettings },
  async compose(starting) {
    const { settings, telemetry, clock, keep } = starting;
    const to = (name: string, urls: string) =>
      keep(
        `calls to ${name}`,
        createTransport({
          ...{ urls: commaSeparated(urls), token: settings.SERVICE_TOKEN, tracer: telemetry.tracer },
          connections: settings.MAX_REQUESTS_IN_FLIGHT,
          transferConnections: settings.MAX_REQUESTS_IN_FLIGHT,
        }),
      );
    const owners = {
      identity: to('identity', settings.IDENTITY_URL),
      content: to('content', settings.CONTENT_URL),
    };
    const services = Object.entries(owners).map(([name, transport]) => createRemoteService(name, transport));
    const gateway = createGateway({
      services: {
        identity: createHttpClient(owners.identity, { fromOutside: true }),
        content: createHttpClient(owners.content, { fromOutside: true }),
      },
      instance: services,
      cache: await openCache(settings, starting),
      stateStore: await openDatabase(settings, 'gateway', starting, true),
      telemetry,
      clock,
      config: gatewayConfig(settings, { version, build, profile: 'distributed', publicUrl: settings.PUBLIC_URL }),
      rawRoutes: Object.values(rawRoutes).map((route) => createRemoteRawRoute(route, owners[route.owner])),
    });
    return [
      ...services.map((service) => ({
        name: service.name,
        start: async () => service.start(),
        stop: () => service.stop(),
      })),
      {
        name: 'gateway',
        start: async () => void (await gateway.start()),
        // First whoever sends requests here learns of it, then what is in flight ends.
        stop: async () => {
          gateway.drain();
          await delay(settings.DRAIN_MS);
          await gateway.stop();
        },
        stopWithinMs: settings.DRAIN_MS + settings.SHUTDOWN_TIMEOUT_MS + 1000,
      },
    ];
  },
});

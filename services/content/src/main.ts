import { join } from 'node:path';
import { openBlobs, openPorts, readInstanceKey, runProcess, serve, tuningOf } from '@bindery/distributed';
import { createGuardedFetch } from '@bindery/guarded-fetch';
import { openRenewableSearchIndex } from '@bindery/search/sqlite';
import {
  acceptedTokens,
  admissionLimits,
  commaSeparated,
  createInProcessClient,
  createLateClient,
  createRoutedClient,
  secretOf,
  version,
} from '@bindery/service-kit';
import { createHttpClient } from '@bindery/service-kit/http-client';
import { createServiceListener } from '@bindery/service-kit/service-listener';
import { createTransport } from '@bindery/service-kit/transport';
import { observedFetch } from '@bindery/telemetry/ports';
import { contentProcessSettings } from './process-settings.ts';
import { createContentService } from './service.ts';

/** The content service as a process of its own (DESIGN section 6, distributed profile). */
await runProcess({
  name: 'content',
  version,
  settings: contentProcessSettings,
  async compose(starting) {
    const { settings, telemetry, keep } = starting;
    const own = createLateClient();
    const onRenewed = (error: unknown): void => telemetry.logger.warn('the search index is made anew', { error });
    const identity = keep(
      'calls to identity',
      createTransport({
        ...{ urls: commaSeparated(settings.IDENTITY_URL), token: settings.SERVICE_TOKEN, tracer: telemetry.tracer },
      }),
    );
    const ports = await openPorts('content', settings, starting);
    const service = createContentService({
      ports,
      services: createRoutedClient({ content: own.client, identity: createHttpClient(identity) }),
      blobStore: await openBlobs(settings, starting),
      searchIndex: keep(
        'search index',
        await openRenewableSearchIndex({ path: join(settings.DATA_DIR, 'search.db'), onRenewed }),
      ),
      fetchGuard: observedFetch(createGuardedFetch({ allow: commaSeparated(settings.BINDERY_FETCH_ALLOW) }), telemetry),
      cursorSecret: secretOf(await readInstanceKey(settings, ports), 'content'),
      tuning: tuningOf(settings),
    });
    own.bind(createInProcessClient(service.handlers));
    return [
      { name: 'content', start: () => service.start(), stop: () => service.stop(), stopWithinMs: 8000 },
      serve({
        host: settings.HOST,
        port: settings.PORT,
        logger: telemetry.logger,
        listener: (ending) =>
          createServiceListener({
            ...{ service, rawRoutes: service.rawRoutes, tokens: acceptedTokens(settings), telemetry, ending },
            admission: admissionLimits(settings),
          }),
      }),
    ];
  },
});

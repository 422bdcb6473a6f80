import { join } from 'node:path';
import {
  keysDatabase,
  openDatabase,
  openPorts,
  readInstanceKey,
  runProcess,
  serve,
  tuningOf,
} from '@bindery/distributed';
import { createOutboxMailer } from '@bindery/mail/outbox';
import { createSmtpMailer } from '@bindery/mail/smtp';
import {
  acceptedTokens,
  admissionLimits,
  commaSeparated,
  createInProcessClient,
  createLateClient,
  createRoutedClient,
  version,
} from '@bindery/service-kit';
import { createHttpClient } from '@bindery/service-kit/http-client';
import { createServiceListener } from '@bindery/service-kit/service-listener';
import { createTransport } from '@bindery/service-kit/transport';
import { observedMailer } from '@bindery/telemetry/ports';
import { identityProcessSettings } from './process-settings.ts';
import { createIdentityService } from './service.ts';
import { samlSettings } from './settings.ts';
import { createKeyStore } from './shared/key-store.ts';
import { createVault } from './shared/vault.ts';
import { signInConfig } from './sign-in-settings.ts';

/** The identity service as a process of its own (DESIGN section 6, distributed profile). */
await runProcess({
  name: 'identity',
  version,
  settings: identityProcessSettings,
  async compose(starting) {
    const { settings, telemetry, keep } = starting;
    const ports = await openPorts('identity', settings, starting);
    const vault = createVault(await readInstanceKey(settings, ports));
    const own = createLateClient();
    const content = keep(
      'calls to content',
      createTransport({
        ...{ urls: commaSeparated(settings.CONTENT_URL), token: settings.SERVICE_TOKEN, tracer: telemetry.tracer },
      }),
    );
    const mailer =
      settings.SMTP_URL === undefined
        ? createOutboxMailer({ folder: join(settings.DATA_DIR, 'outbox'), from: settings.MAIL_FROM })
        : createSmtpMailer({ url: settings.SMTP_URL, from: settings.MAIL_FROM });
    const service = await createIdentityService({
      ports,
      keys: await createKeyStore(await openDatabase(settings, keysDatabase, starting, true), vault),
      vault,
      services: createRoutedClient({ identity: own.client, content: createHttpClient(content) }),
      mailer: observedMailer(keep('mail', mailer), telemetry),
      publicUrl: () => settings.PUBLIC_URL,
      signIn: signInConfig(settings),
      saml: samlSettings(settings),
      tuning: tuningOf(settings),
    });
    own.bind(createInProcessClient(service.handlers));
    const token = settings.BINDERY_BOOTSTRAP_TOKEN;
    return [
      { name: 'identity', start: () => service.start(), stop: () => service.stop(), stopWithinMs: 8000 },
      {
        name: 'first start',
        start: async () => {
          const { first } = await service.bootstrap({
            email: settings.BINDERY_BOOTSTRAP_EMAIL,
            displayName: settings.BINDERY_BOOTSTRAP_NAME,
            organizationTitle: settings.BINDERY_BOOTSTRAP_ORGANIZATION,
            onFirstStart: () => token,
            token,
          });
          if (first) telemetry.logger.info('the first start has made the administrator');
        },
      },
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

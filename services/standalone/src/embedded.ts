import { openFilesystemBlobStore } from '@bindery/blob-store/filesystem';
import { createMemoryCache } from '@bindery/cache/memory';
import { openSqliteEventStore } from '@bindery/event-store/sqlite';
import { createKeyStore, createVault } from '@bindery/identity';
import type { Mailer } from '@bindery/mail';
import { createOutboxMailer } from '@bindery/mail/outbox';
import { createSmtpMailer } from '@bindery/mail/smtp';
import { openEmbeddedMessageBus } from '@bindery/message-bus/embedded';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { openRenewableSearchIndex } from '@bindery/search/sqlite';
import { createLifecycle, openInstanceKey, type Part, systemClock, version } from '@bindery/service-kit';
import { createTelemetry, gaugeDisk } from '@bindery/telemetry';
import {
  observedBlobStore,
  observedCache,
  observedEventStore,
  observedMailer,
  observedMessageBus,
  observedReadStore,
} from '@bindery/telemetry/ports';
import { lockDataDirectory } from './adapters/data-lock.ts';
import { type Embedded, type Replacements, startServices } from './compose.ts';
import type { Settings } from './config.ts';
import { dataPaths } from './data-paths.ts';
import { masterKeysOf } from './master-key.ts';

/**
 * Opens the data directory and starts the whole product on it (DESIGN section 6, embedded profile): the adapters are chosen
 * here and nowhere else.
 * @throws DataDirectoryInUse, WrongMasterKey, KeysMissing, and whatever a store says that cannot be opened
 */
export const createEmbedded = async (settings: Settings, replacements: Replacements = {}): Promise<Embedded> => {
  const clock = replacements.clock ?? systemClock;
  const telemetry =
    replacements.telemetry ??
    (await createTelemetry({
      service: 'bindery',
      version,
      logLevel: settings.LOG_LEVEL,
      otlpEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
      sampleRatio: Number(settings.OTEL_TRACES_SAMPLER_ARG),
      processMetrics: true,
    }));
  const { logger } = telemetry;

  // What is open, in order; it is closed in reverse, also when the rest does not open.
  const opened: Part[] = [];
  const keep = <T extends { close(): Promise<void> }>(name: string, store: T): T => {
    opened.push({ name, stop: () => store.close() });
    return store;
  };
  try {
    const lock = lockDataDirectory(settings.DATA_DIR);
    opened.push({ name: 'data directory', stop: async () => lock.release() });
    if (replacements.telemetry === undefined) opened.push({ name: 'telemetry', stop: () => telemetry.shutdown() });

    gaugeDisk(telemetry.metrics, settings.DATA_DIR);
    const paths = dataPaths(settings.DATA_DIR);
    const now = (): number => clock.now().getTime();
    const onRenewed = (error: unknown): void => logger.warn('the search index is made anew', { error });
    const cache = observedCache(keep('cache', createMemoryCache()), telemetry, 'memory');
    const embeddedBus = keep(
      'bus',
      openEmbeddedMessageBus({
        path: paths.bus,
        now,
        onProblem: (problem) => logger.warn('message bus', { ...problem }),
      }),
    );
    const bus = observedMessageBus(embeddedBus, telemetry, 'embedded', now);
    const openPorts = async (service: string) => ({
      eventStore: observedEventStore(
        keep(`${service} events`, openSqliteEventStore({ path: paths.events(service) })),
        telemetry,
        'sqlite',
      ),
      readStore: observedReadStore(
        keep(`${service} read models`, await openSqliteReadStore({ path: paths.readModels(service), sole: true })),
        telemetry,
        'sqlite',
      ),
      bus,
      cache,
      telemetry,
      clock,
    });
    const keyStore = keep('keys', await openSqliteReadStore({ path: paths.keys, durable: true }));
    const identity = await openPorts('identity');
    const masterKeys = masterKeysOf(settings.DATA_DIR, settings);
    const vault = createVault(await openInstanceKey(keyStore, masterKeys, identity.eventStore, logger));
    return await startServices(
      settings,
      {
        clock,
        telemetry,
        cache,
        vault,
        keys: await createKeyStore(keyStore, vault),
        identity,
        content: await openPorts('content'),
        blobs: observedBlobStore(
          keep('blobs', await openFilesystemBlobStore({ folder: paths.blobs })),
          telemetry,
          'filesystem',
        ),
        search: keep('search index', await openRenewableSearchIndex({ path: paths.search, onRenewed })),
        mailer: observedMailer(keep('mail', openMailer(settings, paths.outbox)), telemetry),
        gatewayState: keep('gateway state', await openSqliteReadStore({ path: paths.gatewayState })),
        adminTokenFile: paths.adminToken,
        importDocs: replacements.importDocs,
      },
      opened,
    );
  } catch (error) {
    const cleanup = createLifecycle(opened, (part, cause) => logger.error('did not stop', { part, error: cause }));
    await cleanup.start();
    await cleanup.stop();
    throw error;
  }
};

/** Through a server where there is one; otherwise mail becomes files. */
const openMailer = ({ SMTP_URL: url, MAIL_FROM: from }: Settings, outbox: string): Mailer =>
  url === undefined ? createOutboxMailer({ folder: outbox, from }) : createSmtpMailer({ url, from });

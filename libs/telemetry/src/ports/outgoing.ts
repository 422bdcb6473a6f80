import type { BlobStore } from '@bindery/blob-store';
import type { GuardedFetch } from '@bindery/guarded-fetch';
import type { Mailer } from '@bindery/mail';
import type { Telemetry } from '../port.ts';
import { backEndCalls, type System } from './calls.ts';

/** A blob store whose calls are spans and are timed; a download is over for it when its first byte can be read. */
export const observedBlobStore = (store: BlobStore, telemetry: Telemetry, system: System): BlobStore => {
  const calls = backEndCalls(telemetry, 'blob-store', system, 'bindery');
  return {
    put: (source, maxBytes) => calls.run('put', 'blobs', {}, () => store.put(source, maxBytes)),
    stat: (sha256) => calls.run('stat', 'blobs', {}, () => store.stat(sha256)),
    get: (sha256, range) => calls.run('get', 'blobs', {}, () => store.get(sha256, range)),
    delete: (sha256) => calls.run('delete', 'blobs', {}, () => store.delete(sha256)),
    close: () => store.close(),
  };
};

/** A mailer whose mails are client spans: that one was sent, never to whom or what. */
export const observedMailer = (mailer: Mailer, telemetry: Telemetry): Mailer => {
  const { tracer, metrics } = telemetry;
  const mails = metrics.counter('bindery_mails_total', 'Mails handed over, by what became of them.', ['outcome']);
  const send: Mailer['send'] = async (message, signal) => {
    let outcome = 'unavailable';
    try {
      outcome = await mailer.send(message, signal);
    } finally {
      mails.add(1, { outcome });
    }
    return outcome === 'sent' ? 'sent' : 'refused';
  };
  return {
    send: (message, signal) =>
      tracer.enabled
        ? tracer.span('send mail', { kind: 'client' }, () => send(message, signal))
        : send(message, signal),
    close: () => mailer.close(),
  };
};

/**
 * A fetch whose exchanges are client spans, with the host and the method only: addresses and queries may hold what is
 * nobody's business. The trace is not carried to hosts that a stranger named.
 */
export const observedFetch = (fetch: GuardedFetch, telemetry: Telemetry): GuardedFetch => {
  const { tracer } = telemetry;
  if (!tracer.enabled) return fetch;
  return (url, limits) => {
    const method = limits?.request?.method ?? 'GET';
    const attributes = {
      'http.request.method': method,
      ...(URL.canParse(url) ? { 'server.address': new URL(url).hostname } : {}),
    };
    return tracer.span(method, { kind: 'client', attributes }, () => fetch(url, limits));
  };
};

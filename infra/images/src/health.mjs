// The health check of the images, which have no curl: whether the process in this container is alive.
const response = await fetch(`http://127.0.0.1:${process.env.PORT}/healthz`, { signal: AbortSignal.timeout(2500) });
process.exit(response.ok ? 0 : 1);

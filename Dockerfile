# syntax=docker/dockerfile:1.7

# One file, one image per service:
#   docker build --build-arg SERVICE=gateway --tag bindery/gateway:0.1.0 .
# SERVICE is a folder of services/. The same Node as in package.json (`optionalDependencies`); a check compares the two.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# What the service needs of the context, in two parts, so that a change of a source does not install the packages anew.
FROM ${NODE_IMAGE} AS source
ARG SERVICE
WORKDIR /source
COPY . .
RUN node infra/images/src/split.ts "${SERVICE:?say which service: --build-arg SERVICE=gateway}" ../split

FROM ${NODE_IMAGE} AS packages
ARG SERVICE
WORKDIR /app
COPY --from=source /split/manifests ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts
COPY --from=source /split/tools ./build
# The bill of materials lists what is installed, not what might be.
RUN node build/bill-of-materials.ts "${SERVICE}" > sbom.cdx.json && rm -rf build package-lock.json .npmrc

# Without the package managers of the base image: nothing is installed at run time.
FROM ${NODE_IMAGE} AS runtime
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn-* /usr/local/bin/yarn /usr/local/bin/yarnpkg

FROM runtime AS service
ARG SERVICE
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Bindery ${SERVICE}" \
      org.opencontainers.image.description="Self-hosted documentation platform: the ${SERVICE} process of the distributed profile" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/node:24.21.0-bookworm-slim"
WORKDIR /app
COPY --from=packages /app ./
COPY --from=source /split/sources ./
# The one folder that the process writes to, besides /tmp. Everything else may be mounted read-only.
COPY --from=source --chown=10001:10001 /split/data /var/lib/bindery
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/var/lib/bindery
USER 10001:10001
EXPOSE 8080
# Liveness alone: what the process depends on is not its health.
HEALTHCHECK --interval=10s --timeout=3s --start-period=180s --retries=3 \
  CMD ["node", "health.mjs"]
# Node is process 1 and answers SIGTERM itself: not ready, drained, leases moved, gone in less than 30 s.
STOPSIGNAL SIGTERM
CMD ["node", "service/src/main.ts"]

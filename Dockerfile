# The service in a container: not root, and nothing to write to but /data.
#   docker build -t cellarbook .
#   docker run --read-only --tmpfs /tmp -v cellarbook:/data -p 127.0.0.1:3000:3000 cellarbook
# compose.cluster.yaml gives it with its digest.
ARG BUN_IMAGE=oven/bun:1.4.5-slim
FROM ${BUN_IMAGE} AS install
WORKDIR /app
COPY package.json bun.lock ./
# The image brings the Bun that the package would bring itself.
RUN bun install --frozen-lockfile --production --ignore-scripts \
  && rm -rf node_modules/bun node_modules/@oven

FROM ${BUN_IMAGE}
WORKDIR /app
COPY --from=install /app/node_modules node_modules
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY docs/devices.md docs/
COPY docs/programs docs/programs
COPY projections projections
COPY src src
COPY views views
RUN install -d -o bun -g bun -m 0700 /data
USER bun
# HOST: a container's own loopback is nobody else's. What is published, and where, is for `-p` or the compose file to say.
# BUN_JSC_…: as `bun start` sets them (docs/decisions/016-how-far-a-heap-may-grow.md).
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data BUN_JSC_forceRAMSize=71303168 BUN_JSC_heapGrowthFunctionThresholdInMB=1
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["bun", "src/main.ts", "health"]
# SIGTERM drains for up to ten seconds: `docker stop` waits that long by default.
STOPSIGNAL SIGTERM
ENTRYPOINT ["bun", "src/main.ts"]
CMD ["serve"]

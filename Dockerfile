# The service in a container: the executable alone, not root, and nothing to write to but /data.
#   docker build -t cellarbook .
#   docker run --read-only --tmpfs /tmp -v cellarbook:/data -p 127.0.0.1:3000:3000 cellarbook
# compose.cluster.yaml gives both images with their digests.
ARG BUN_IMAGE=oven/bun:1.4.5-slim
ARG BASE_IMAGE=debian:12-slim
FROM ${BUN_IMAGE} AS build
WORKDIR /app
COPY package.json bun.lock ./
# The image brings the Bun that the package would bring itself.
RUN bun install --frozen-lockfile --production --ignore-scripts \
  && rm -rf node_modules/bun node_modules/@oven
COPY bunfig.toml tsconfig.json ./
COPY deploy/build.ts deploy/
COPY docs/devices.md docs/
COPY docs/programs docs/programs
COPY projections projections
COPY src src
COPY views views
RUN bun deploy/build.ts here /dist && mv /dist/cellarbook-linux-* /dist/cellarbook

FROM ${BASE_IMAGE}
COPY --from=build /dist/cellarbook /usr/local/bin/cellarbook
RUN useradd --system --uid 1000 --no-create-home cellarbook && install -d -o cellarbook -g cellarbook -m 0700 /data
USER cellarbook
# HOST: a container's own loopback is nobody else's. What is published, and where, is for `-p` or the compose file to say.
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["cellarbook", "health"]
# SIGTERM drains for up to ten seconds: `docker stop` waits that long by default.
STOPSIGNAL SIGTERM
ENTRYPOINT ["cellarbook"]
CMD ["serve"]

# syntax=docker/dockerfile:1

# Zar as a server:
#
#   docker build --tag zar .
#   docker run --read-only --publish 127.0.0.1:8080:8080 --volume zar:/data --env ZAR_TOKEN=… zar

FROM rust:1.95.0-slim-bookworm AS build
WORKDIR /src
COPY . .
# The two caches make the next build quick and are not in the image; so the program is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --locked --release --package zar \
    && cp target/release/zar /usr/local/bin/zar

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Zar" \
      org.opencontainers.image.description="A backgammon engine whose networks have learnt from their own play alone" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin zar \
    && install --directory --owner=zar --group=zar --mode=700 /data
COPY LICENSE-APACHE LICENSE-MIT /usr/share/doc/zar/
COPY --from=build /usr/local/bin/zar /usr/local/bin/zar
# Nothing is written elsewhere: games, and the bear-off tables, which are built in a second.
ENV ZAR_CACHE=/data/cache
VOLUME /data
USER 10001
EXPOSE 8080
# Without curl: the shell speaks enough of HTTP itself.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["zar"]
# Whoever reaches the port may ask, unless ZAR_TOKEN is set: see zar serve --help for this and all limits.
CMD ["serve", "0.0.0.0:8080", "--games", "/data/games.redb"]

# syntax=docker/dockerfile:1
# A worker in a small image: built with Swift's standard library inside, run on Debian with hiredis, not as root.

FROM swift:6.3-bookworm AS build
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libhiredis-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# Dependencies first: they change less often than our sources, and this layer is kept.
COPY Package.* ./
RUN swift package resolve
# The folders that the description of the package names.
COPY Sources Sources
COPY Tests Tests
# Names of functions stay in, for readable backtraces; what only debuggers read goes.
RUN swift build -c release --product rollcall --static-swift-stdlib -Xlinker --strip-debug \
    && install -D "$(swift build -c release --show-bin-path)/rollcall" /out/rollcall

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends ca-certificates libhiredis0.14 libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin rollcall
COPY --from=build /out/rollcall /usr/local/bin/rollcall
USER 10001
# Inside a container loopback reaches nobody. The admin port stays there unless a token is configured.
ENV ROLLCALL_EDGE_HOST=0.0.0.0
EXPOSE 8080 8081
HEALTHCHECK --interval=5s --timeout=2s --start-period=5s CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8081 && printf 'GET /health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["rollcall"]
CMD ["worker"]

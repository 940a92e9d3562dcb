# The image that `make images` builds without a daemon, for those who have one:
#   docker buildx build --platform linux/amd64,linux/arm64 -t boardwalk:dev \
#     --build-arg COMMIT=$(git rev-parse HEAD) --build-arg BUILT=$(git log -1 --format=%cI) \
#     --build-arg VERSION=$(git describe --tags --always --dirty) .
# and the renderer's, with a browser and fonts, with --target renderer -t boardwalk-renderer:dev.
# hack/images has a test that both say the same.

FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG COMMIT
ARG BUILT
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
      -ldflags "-s -w -X main.commit=$COMMIT -X main.built=$BUILT" -o /image/boardwalk . \
 && mkdir -m 0755 /image/etc && mkdir -m 1777 /image/tmp \
 && printf 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n' >/image/etc/passwd \
 && printf 'root:x:0:\nnonroot:x:65532:\n' >/image/etc/group

# Debian's own base has a shell besides, which make images leaves out.
FROM debian:bookworm-slim AS renderer
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium-headless-shell \
      fonts-inter fonts-noto-cjk fonts-noto-color-emoji fonts-noto-core \
 && rm -rf /var/lib/apt/lists/* /usr/share/fonts/opentype/noto/NotoSerifCJK-*
ARG COMMIT
ARG BUILT
ARG VERSION
LABEL org.opencontainers.image.title="boardwalk-renderer"
LABEL org.opencontainers.image.description="Boardwalk with a browser and fonts, to draw cards"
LABEL org.opencontainers.image.source="https://github.com/boardwalkhq/boardwalk"
LABEL org.opencontainers.image.licenses="Apache-2.0"
LABEL org.opencontainers.image.revision=$COMMIT
LABEL org.opencontainers.image.created=$BUILT
LABEL org.opencontainers.image.version=$VERSION
COPY --from=build /image/ /
ENV PATH=/:/usr/lib/chromium
ENV HOME=/tmp
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/boardwalk"]

FROM scratch
ARG COMMIT
ARG BUILT
ARG VERSION
LABEL org.opencontainers.image.title="boardwalk"
LABEL org.opencontainers.image.description="A public, read-only API of token markets, from block to JSON"
LABEL org.opencontainers.image.source="https://github.com/boardwalkhq/boardwalk"
LABEL org.opencontainers.image.licenses="Apache-2.0"
LABEL org.opencontainers.image.revision=$COMMIT
LABEL org.opencontainers.image.created=$BUILT
LABEL org.opencontainers.image.version=$VERSION
COPY --from=build /image/ /
ENV PATH=/
ENV HOME=/tmp
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/boardwalk"]

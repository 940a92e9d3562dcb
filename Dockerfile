# The image that `make images` builds without a daemon, for those who have one:
#   docker buildx build --platform linux/amd64,linux/arm64 -t boardwalk:dev \
#     --build-arg COMMIT=$(git rev-parse HEAD) --build-arg BUILT=$(git log -1 --format=%cI) \
#     --build-arg VERSION=$(git describe --tags --always --dirty) .
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

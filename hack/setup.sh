#!/usr/bin/env bash
# Installs what the tests need and a Debian or Ubuntu machine with Go, Node.js and make may lack. With "node", what a real
# Kubernetes node needs besides. With "cards", only what drawing share cards needs, and only where no password is asked for.
set -euo pipefail
cd "$(dirname "$0")/.."

need() { command -v "$1" >/dev/null || { echo "$1 is needed: install $2 and run this again" >&2; exit 1; }; }
need go "Go (https://go.dev/dl)"
need node "Node.js 20 or newer"
need npm "npm"

packages=()
if [ "${1:-}" != cards ]; then
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || packages+=(postgresql)
  [ -e /usr/sbin/pgbouncer ] || packages+=(pgbouncer)
  command -v redis-server >/dev/null || packages+=(redis-server)
  command -v promtool >/dev/null || packages+=(prometheus)
fi
command -v chromium-headless-shell >/dev/null || packages+=(chromium-headless-shell)
# The faces that cards are drawn with. package:what it has
for p in fonts-inter:/usr/share/fonts/opentype/inter/InterDisplay-Bold.otf \
  fonts-noto-core:/usr/share/fonts/truetype/noto/NotoSansArabic-Regular.ttf \
  fonts-noto-cjk:/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc \
  fonts-noto-color-emoji:/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf; do
  [ -e "${p#*:}" ] || packages+=("${p%%:*}")
done
if [ "${1:-}" = node ]; then
  # package:what it has
  for p in containerd:/usr/bin/containerd runc:/usr/sbin/runc containernetworking-plugins:/usr/lib/cni/ptp \
    nftables:/usr/sbin/nft iproute2:/usr/sbin/ip mount:/usr/bin/mount mmdebstrap:/usr/bin/mmdebstrap; do
    [ -e "${p#*:}" ] || packages+=("${p%%:*}")
  done
fi

if [ ${#packages[@]} -gt 0 ]; then
  sudo=""
  if [ "$(id -u)" != 0 ]; then sudo=sudo; fi
  if [ "${1:-}" = cards ] && ! { command -v apt-get && $sudo ${sudo:+-n} true; } >/dev/null 2>&1; then
    exit 0 # boardwalk up says what is missing
  fi
  echo "installing ${packages[*]}"
  $sudo apt-get update -qq
  # The tests start servers of their own: the packages' must not run.
  $sudo mkdir -p /etc/postgresql-common
  [ -e /etc/postgresql-common/createcluster.conf ] ||
    echo "create_main_cluster = false" | $sudo tee /etc/postgresql-common/createcluster.conf >/dev/null
  $sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Options::=--force-confold "${packages[@]}" >/dev/null
fi

if [ "${1:-}" = cards ]; then exit 0; fi
go mod download
echo "building Kubernetes and Helm for the tests, where they aren't cached"
go run ./internal/kubetest/cmd/kubetools

#!/usr/bin/env bash
# Starts the local world and Boardwalk on it; ends both together.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${DATA:-data}
mkdir -p "$data/manifests"
exec 9>"$data/run.lock"
flock -n 9 || { echo "another make run uses $data: end it, or choose another folder with DATA=…" >&2; exit 1; }
hack/setup.sh cards || echo "what share cards need could not be installed: make setup tells more" >&2
# The local chains begin anew each time, so what was indexed of the last ones means nothing.
rm -f "$data"/run.db "$data"/run.db-wal "$data"/run.db-shm

# The world's traders are members: they join through the intake, whose token is made anew each time.
(umask 077; od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$data/intake.token")
sha256sum <"$data/intake.token" >"$data/intake.hashes"

: >"$data/simnet.log" # there before it is looked into
bin/simnet --blocks 900 --keep-states 8 --keep-blocks 1200 --dir "$data/manifests" --intake-token-file "$data/intake.token" >"$data/simnet.log" 2>&1 9>&- &
simnet=$!
trap 'kill "$simnet" 2>/dev/null || true; wait "$simnet" 2>/dev/null || true' EXIT
echo "starting two local EVM chains and a local Solana (log: $data/simnet.log)"
shown=0
until grep -q '^simnet ready' "$data/simnet.log"; do
  if ! kill -0 "$simnet" 2>/dev/null; then cat "$data/simnet.log" >&2; exit 1; fi
  lines=$(wc -l <"$data/simnet.log")
  if [ "$lines" -gt "$shown" ]; then tail -n +$((shown + 1)) "$data/simnet.log" | head -n $((lines - shown)); shown=$lines; fi
  sleep 0.3
done
echo "starting Boardwalk; the launch venues here are local ones, those of chains that do not run stay closed"
bin/boardwalk up -f config/samples -f "$data/manifests" --db "sqlite:$data/run.db" --intake-tokens "$data/intake.hashes" 9>&- &
up=$!
trap 'kill "$up" "$simnet" 2>/dev/null || true; wait "$up" 2>/dev/null || true; wait "$simnet" 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
wait "$up"

#!/usr/bin/env bash
# Runs go test with the arguments given, and says in the end what was skipped for want of the recordings of real chains.
set -uo pipefail
cd "$(dirname "$0")/.."
skipped=$(mktemp)
trap 'rm -f "$skipped"' EXIT
BOARDWALK_SKIPPED="$skipped" go test "$@"
status=$?
if [ -s "$skipped" ]; then
  echo
  echo "SKIPPED: $(wc -l <"$skipped") tests had no recordings of real chains (internal/recorded): set BOARDWALK_RECORDINGS to a folder with them."
  echo "They are public chain data which other projects recorded; ask the maintainers for them (CONTRIBUTING.md). CI runs these tests."
fi
exit $status

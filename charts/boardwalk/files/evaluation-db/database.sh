#!/bin/sh
# The evaluation database: `run` makes a PostgreSQL database where there is none and serves it, `alive` and `ready` say how
# it is. From the environment: DATA, the folder for its files; URI_FILE, with
# postgresql://boardwalk:PASSWORD@HOST:PORT/boardwalk?…; HBA_FILE; SOCKETS, a folder for its socket; PGPORT, if not 5432.
set -eu
umask 077
cluster=$DATA/pgdata

fail() {
  echo "evaluation database: $*" >&2
  exit 1
}

# Debian keeps the server's programs out of PATH, in a folder for each major version: the one that wrote the data is
# taken, else the newest.
find_programs() {
  command -v postgres >/dev/null && command -v initdb >/dev/null && command -v pg_isready >/dev/null && return
  version=$(cat "$cluster/PG_VERSION" 2>/dev/null) || version='*'
  # shellcheck disable=SC2086 # a version may be a pattern
  bin=$(ls -d /usr/lib/postgresql/$version/bin 2>/dev/null | sort -V | tail -n 1)
  [ -n "$bin" ] || bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  [ -n "$bin" ] || fail "the image has no PostgreSQL server, neither in PATH nor in /usr/lib/postgresql/*/bin:" \
    "name another in database.evaluation.image"
  PATH=$bin:$PATH
}

# Runs the statements of standard input, one a line, on a cluster that isn't being served. A statement that fails is not
# repeated in the log: one of them has the password.
alone() {
  out=$(postgres --single -D "$1" -c log_min_error_statement=panic -c log_statement=none \
    -c log_min_duration_statement=-1 postgres 2>&1) || fail "PostgreSQL did not start: $out"
  case $out in
    *ERROR:* | *FATAL:* | *PANIC:*) fail "a statement failed: $out" ;;
  esac
}

# A cluster is made beside its place and moved there once it is whole, so that a pod that is stopped half-way begins anew.
make_cluster() {
  rm -rf "$cluster.new"
  initdb -D "$cluster.new" -U postgres --auth-local=trust --auth-host=scram-sha-256 -E UTF8 --locale=C.UTF-8 >/dev/null
  alone "$cluster.new" <<'SQL'
CREATE ROLE boardwalk LOGIN
CREATE DATABASE boardwalk OWNER boardwalk
SQL
  mv "$cluster.new" "$cluster"
}

run() {
  # As the first process of a pod it would otherwise not be ended by TERM before PostgreSQL runs.
  trap 'exit 143' TERM
  uri=$(cat "$URI_FILE")
  password=${uri#postgresql://boardwalk:}
  password=${password%%@*}
  case $password in
    '' | *[!A-Za-z0-9]*) fail "the Secret's uri is not postgresql://boardwalk:PASSWORD@… with letters and digits alone" ;;
  esac
  [ -e "$cluster/PG_VERSION" ] || make_cluster
  # A volume's group may have been given write access, which PostgreSQL refuses.
  chmod 0700 "$cluster"
  wrote=$(cat "$cluster/PG_VERSION")
  case $(postgres --version) in
    *") $wrote."* | *") $wrote"[a-z]*) ;;
    *) fail "the data is of PostgreSQL $wrote, the image has $(postgres --version): name an image of $wrote in" \
      "database.evaluation.image, or delete the volume claim and let the chains be indexed anew" ;;
  esac
  # A server that was killed leaves its number in two places, and it may be another process's by now. Nobody else is at
  # work here: a StatefulSet has one pod.
  rm -f "$cluster/postmaster.pid" "$SOCKETS"/.s.PGSQL.*
  # The password is the Secret's, also where an older Secret made the data.
  echo "ALTER ROLE boardwalk PASSWORD '$password'" | alone "$cluster"
  unset uri password

  # TERM, which ends a pod, would have PostgreSQL wait for its clients; INT doesn't.
  postgres -D "$cluster" -k "$SOCKETS" -c listen_addresses='*' -c hba_file="$HBA_FILE" -c max_connections=300 &
  server=$!
  trap 'kill -INT $server 2>/dev/null || :' TERM INT
  status=0
  wait $server || status=$?
  while kill -0 $server 2>/dev/null; do
    status=0
    wait $server || status=$?
  done
  exit $status
}

find_programs
case ${1:-} in
  run) run ;;
  ready) pg_isready -q -h "$SOCKETS" ;;
  # 1 is a server that answers but lets nobody in yet.
  alive) pg_isready -q -h "$SOCKETS" || [ $? -eq 1 ] ;;
  *) fail "run, alive or ready?" ;;
esac

#!/usr/bin/env bash
# Tests of `lab` and of `.ci/stage`: what they refuse, they refuse with one sentence and a failure.
# Closes with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/.."

PASS=0 FAIL=0 WORK=$(mktemp -d) SERVER=
finish() {
  if [ -n "$SERVER" ]; then kill "$SERVER"; fi
  rm -rf "$WORK"
}
trap finish EXIT

check() { # NAME CONDITION...: one test.
  local name=$1
  shift
  if "$@"; then
    PASS=$((PASS + 1)) && echo "ok: $name"
  else
    FAIL=$((FAIL + 1)) && echo "FAILED: $name"
  fi
}

# refuses SENTENCE COMMAND...: it fails, and all it says as `lab` is that sentence.
refuses() {
  local sentence=$1 said status=0
  shift
  said=$(timeout 60 "$@" 2>&1 </dev/null) || status=$?
  said=$(grep '^lab: ' <<<"$said")
  [ $status = 1 ] && [[ $(wc -l <<<"$said") = 1 && $said = *"$sentence"* ]] && return
  echo "expected 'lab: … $sentence …' and status 1, but got status $status and: $said"
  return 1
}

# path_without NAME...: a folder with every command of this machine but those.
path_without() {
  local folder name
  folder=$(mktemp -d -p "$WORK")
  tr : '\n' <<<"$PATH" | while read -r place; do cp -rsn "$place"/. "$folder" 2>/dev/null; done
  for name; do rm -f "$folder/$name"; done
  echo "$folder"
}

check "an unknown command" refuses "there is no command 'fly'" ./lab fly
check "an unknown option" refuses "serve does not know '--fast'" ./lab serve --fast
check "an unknown benchmark" refuses "bench does not know '--fast'" ./lab bench --fast
for port in 0 65536 many 99999999999999999999 ''; do
  check "the port '$port'" refuses "the port must be 1 to 65535, but is '$port'" ./lab serve --port "$port"
done
check "a port without a number" refuses "--port needs a number" ./lab serve --port

: >"$WORK/driver"
chromedriver --port=0 >>"$WORK/driver" 2>&1 &
SERVER=$!
for _ in {1..100}; do grep -q 'successfully on port' "$WORK/driver" && break || sleep 0.1; done
TAKEN=$(grep -o 'successfully on port [0-9]*' "$WORK/driver" | grep -o '[0-9]*$')
check "a port in use" refuses "port ${TAKEN:-?} is in use; choose another with --port" ./lab serve --port "${TAKEN:-?}"

mkdir "$WORK/full"
printf '#!/bin/sh\necho; echo "disk 1000 900 100 90%% /"\n' >"$WORK/full/df" && chmod +x "$WORK/full/df"
for command in build test camel; do
  check "no disk space to $command" refuses "has 100 MB free, a build needs 6000 MB" \
    env PATH="$WORK/full:$PATH" CAMEL_LAB_CACHE="$WORK/cache" ./lab $command
done
check "a cache that cannot be written" refuses "cannot write to /proc/cache" env CAMEL_LAB_CACHE=/proc/cache ./lab build
check "no Rust" refuses "Rust is missing; install it from" env PATH="$(path_without cargo rustup)" ./lab build
NO_BROWSER=$(path_without chromium google-chrome chromedriver apt-get)
check "no browser and no apt" refuses "Chromium or its driver is missing and this machine has no apt-get" \
  env PATH="$NO_BROWSER" ./lab setup

older() { bash -c 'source ./lab; is_older "$1" "$2"' _ "$1" "$2"; }
newer() { ! older "$1" "$2"; }
check "an older compiler" older 1.85.0 1.95
check "a newer compiler" newer 1.100.0 1.95
check "the same compiler" newer 1.95.0 1.95.0

# A run of stages in a shell of its own: prints what `lab test` would close with.
stages() {
  LOGS=$WORK/logs bash -c '
    set -euo pipefail
    say() { :; }
    die() { echo "lab: $*" >&2; exit 1; }
    source .ci/stage
    '"$1"'
    close_stages' 2>/dev/null
}
closes() { # SENTENCE STATUS STAGES
  local said status=0
  said=$(stages "$3") || status=$?
  [[ $(tail -n 1 <<<"$said") = "$1" && $status = "$2" ]] && return
  echo "expected '$1' and status $2, but got status $status and: $said"
  return 1
}
check "passing stages" closes "6 passed, 0 failed" 0 'stage one true; suite two echo "test result: ok. 5 passed; 0 failed;"'
check "a failing stage does not stop the next" closes "1 passed, 1 failed" 1 'stage one false; stage two true'
check "a dying stage does not stop the next" closes "1 passed, 1 failed" 1 'stage one die "no"; stage two true'
check "a suite without a test has failed" closes "0 passed, 1 failed" 1 'suite one echo "test result: ok. 0 passed; 0 failed;"'
check "a suite that breaks off has failed" closes "3 passed, 1 failed" 1 'suite one sh -c "echo 3 passed; exit 1"'

# The sizes of a site of one file that cannot be compressed.
mkdir -p "$WORK/site/dist" "$WORK/site/.ci" && cp lab "$WORK/site/"
head -c 1000 /dev/urandom >"$WORK/site/dist/page.wasm"
weighs() { # SENTENCE STATUS BUDGET HISTORY
  local said status=0
  echo "page.wasm $3" >"$WORK/site/.ci/budgets"
  if [ -n "$4" ]; then printf 'date,page.wasm\n2026-01-01,%s\n' "$4" >"$WORK/site/.ci/history.csv"; fi
  said=$(bash -c 'source "$1/lab"; sizes' _ "$WORK/site" 2>&1) || status=$?
  [[ $status = "$2" && $said = *"$1"* ]] && return
  echo "expected '$1' and status $2, but got status $status and: $said"
  return 1
}
check "no history of sizes" weighs "history.csv is missing" 1 2000 ''
check "a site as large as before" weighs "page.wasm" 0 2000 1000
check "a site that has grown" weighs "has grown by more than a tenth" 1 2000 800
check "a site over its budget" weighs "is over its budget of 500 bytes" 1 500 1000

echo "$PASS passed, $FAIL failed"
[ $FAIL = 0 ]

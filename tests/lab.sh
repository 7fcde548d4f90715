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

# Every command that `main` knows stands at the start of a line of the help.
lists_all() {
  local help command commands
  help=$(./lab help) commands=$(sed -n '/^main()/,/^}/s/^    \([a-z]\+\)\()\| |\).*/\1/p' lab)
  [ "$(wc -w <<<"$commands")" -ge 8 ] || { echo "found only: $commands"; return 1; }
  for command in $commands; do
    grep -q "^  $command\b" <<<"$help" || { echo "$command is not in the help"; return 1; }
  done
}
check "help lists every command" lists_all

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
tells_setup() { stages 'timed setup export TOOL=here; stage one test "$TOOL" = here' | grep -qx ' *[0-9]* s  setup'; }
check "the time of the set-up is told" tells_setup
check "the set-up counts as no check, and what it sets is kept" closes "1 passed, 0 failed" 0 \
  'timed setup export TOOL=here; stage one test "$TOOL" = here'

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
mv "$WORK/site/dist/page.wasm" "$WORK/site/dist/page.kept"
check "a site without its file" weighs "dist/page.wasm is missing" 1 2000 1000
mv "$WORK/site/dist/page.kept" "$WORK/site/dist/page.wasm"

# A new file in the budgets would shift every column of the history.
printf 'page.wasm 2000\nother.wasm 2000\n' >"$WORK/site/.ci/budgets"
check "a history of other files" refuses "the columns of .ci/history.csv are not the files of .ci/budgets" \
  bash -c 'source "$1/lab"; record' _ "$WORK/site"

# A compiler of Debian that is too old is named before anything is installed.
mkdir "$WORK/debian"
printf '#!/bin/sh\nprintf "rustc-web:\\n  Installed: (none)\\n  Candidate: $OFFERED\\n"\n' >"$WORK/debian/apt-cache"
printf '#!/bin/sh\necho "apt-get $*" >>"$ASKED"\nexit 1\n' >"$WORK/debian/apt-get"
chmod +x "$WORK"/debian/*
falls_back() { # SENTENCE OFFERED
  refuses "$1" env PATH="$WORK/debian:$PATH" OFFERED="$2" ASKED="$WORK/asked" CAMEL_LAB_CACHE="$WORK" bash -c 'source ./lab; debian_wasm'
}
installs_nothing() { ! grep -s ' install ' "$WORK/asked"; }
check "Debian's compiler is too old" falls_back "Debian's Rust is 1.85.0, but 1.95 is needed; run 'rustup target add" 1.85.0+dfsg3-1~deb12u3
check "Debian has no compiler" falls_back "Debian's Rust is missing, but" "(none)"
check "nothing is installed for a compiler that is too old" installs_nothing
check "Debian's packages cannot be installed" falls_back "could not install rustc-web cargo-web" 9.9.9-1

# A rustup that hangs, and a Debian whose compiler has no wasm library until it is built.
FAKE=$WORK/fake
mkdir -p "$FAKE/bin" "$FAKE/sysroot"
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$FAKE/bin/$1" && chmod +x "$FAKE/bin/$1"; } # NAME CODE
fake rustup 'exec sleep 600'
fake apt-cache 'printf "rustc-web:\n  Candidate: 9.9.9-1\n"'
fake apt-get 'echo "apt-get $*" >>"$FAKE/asked"'
fake rustc 'case $1 in --print) echo "$FAKE/sysroot" ;; *) echo "rustc 9.9.9" ;; esac'
fake cargo 'deps=$CARGO_TARGET_DIR/wasm32-unknown-unknown/release/deps; mkdir -p "$deps"; echo "$*" >"$deps/libstd-1.rlib"'
ln -s ../lib/llvm-99/bin/lld-99 "$FAKE/bin/rust-lld"
builds_wasm() {
  local std=$FAKE/sysroot/lib/rustlib/wasm32-unknown-unknown/lib/libstd-1.rlib said
  said=$(FAKE=$FAKE PATH=$FAKE/bin:$PATH CAMEL_LAB_CACHE=$FAKE/cache timeout 60 bash -c '
    source ./lab
    DEBIAN=$FAKE/bin RUSTUP_SECONDS=1
    as_root() { "$@"; }
    mkdir -p "$CACHE" && need_wasm && echo "$WASM_PATH"' 2>&1)
  [[ $(tail -n 1 <<<"$said") = "$FAKE/bin:" && $said = *"adding the wasm target"*"building its standard library"* ]] &&
    grep -q -e '-Zbuild-std=std' "$std" && grep -q 'install .*rustc-web' "$FAKE/asked" && grep -q 'install .*lld-99' "$FAKE/asked" && return
  echo "got: $said"
  return 1
}
check "where rustup hangs, Debian's compiler gets a wasm library" builds_wasm

# A tool that comes as a release, next to what an interrupted installation has left.
mkdir -p "$FAKE/release"
fake curl 'echo "$*" >>"$FAKE/downloads"; tar cz -C "$FAKE/release" demo'
fake cargo 'while [ "$1" != --root ]; do shift; done; mkdir -p "$2/bin"; echo "echo built" >"$2/bin/demo"; chmod +x "$2/bin/demo"'
installs() { # SAID DOWNLOADS: what the tool says in the end, and how often it was downloaded so far.
  local said
  said=$(FAKE=$FAKE PATH=$FAKE/bin:$PATH CAMEL_LAB_CACHE=$FAKE/cache bash -c '
    source ./lab
    WASM_PATH=
    tool demo 1.0 demo-crate https://127.0.0.1/demo.tar.gz 0
    demo --version' 2>/dev/null)
  [[ $said = "$1" && $(wc -l <"$FAKE/downloads") = "$2" && $(ls "$FAKE/cache/tools") = demo-crate-1.0 ]] &&
    [ "$(ls "$FAKE/cache/tools/demo-crate-1.0/bin")" = demo ] && return
  echo "got '$said' after $(wc -l <"$FAKE/downloads") downloads"
  return 1
}
release() { printf '#!/bin/sh\n%s\n' "$1" >"$FAKE/release/demo" && chmod +x "$FAKE/release/demo"; }
release 'echo released'
mkdir -p "$FAKE/cache/tools/demo-crate-1.0.part/bin" && : >"$FAKE/cache/tools/demo-crate-1.0.part/bin/half"
check "an installation that was interrupted is made again" installs released 1
check "what is installed is not installed again" installs released 1
rm -r "$FAKE/cache/tools/demo-crate-1.0" && release 'exit 1'
check "a release that does not run here is built from source" installs built 2

# `lab serve` with a site of one small program in place of the real one.
TINY=$WORK/tiny
mkdir -p "$TINY/src" && cp -r lab Cargo.lock .ci "$TINY/"
printf '[package]\nname = "tiny"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\nwasm-bindgen = "*"\n' >"$TINY/Cargo.toml"
echo 'use wasm_bindgen::prelude::*; #[wasm_bindgen] pub fn same(value: &JsValue) -> JsValue { value.clone() } fn main() {}' >"$TINY/src/main.rs"
printf '[build]\npublic_url = "./"\nfilehash = false\n' >"$TINY/Trunk.toml"
echo '<!doctype html><html><head><link data-trunk rel="rust" data-wasm-opt="0" /></head><body>a tiny page</body></html>' >"$TINY/index.html"
is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
type_of() { curl -sS -o /dev/null -w '%{content_type}' "$1"; }
serves() { # PORT: the page and its program come as what they are, and nobody listens any more afterwards.
  local site=http://127.0.0.1:$1 page='' program='' status=0
  env --default-signal=INT "$TINY/lab" serve --port "$1" >"$WORK/served" 2>&1 &
  local lab=$!
  for _ in {1..600}; do is_taken "$1" || ! kill -0 $lab 2>/dev/null && break || sleep 0.5; done
  page=$(type_of "$site/"):$(curl -sS "$site/") program=$(type_of "$site/tiny_bg.wasm")
  kill -INT $lab && wait $lab || status=$?
  [[ $page = text/html*:*"a tiny page"* && $program = application/wasm && $status = 0 ]] &&
    grep -q "serving the site on $site/" "$WORK/served" && ! is_taken "$1" && return
  echo "got the page '$page', the program '$program', status $status, and:" && tail -n 20 "$WORK/served"
  return 1
}
for PORT in {18200..18299}; do is_taken "$PORT" || break; done
check "a site is served and the server ends when it is told to" serves "$PORT"

echo "$PASS passed, $FAIL failed"
[ $FAIL = 0 ]

#!/usr/bin/env bash
# Debian's Chromium, for the tests of scorecard.html and for tools/screenshots.py: root on Debian or Ubuntu gets it from apt.
set -euo pipefail

say() { echo "browser/install: $*" >&2; }
[ "$(id -u)" = 0 ] || { say "only root can install one: install Chromium, or run \`playwright install chromium\`"; exit 2; }
command -v apt-get >/dev/null || { say "there is no apt-get: install Chromium, or run \`playwright install chromium\`"; exit 2; }
( # tools/docker/engine.sh may want apt-get in another worker at once
    flock 9
    command -v chromium >/dev/null && exit 0
    say "installing chromium"
    export DEBIAN_FRONTEND=noninteractive
    said=$({ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core fonts-wqy-microhei; } </dev/null 2>&1 9>&-) ||
        { say "apt-get can't install chromium:"; tail -n 20 <<<"$said" >&2; exit 3; }
) 9>"${TMPDIR:-/tmp}/bumpgate-docker.lock"

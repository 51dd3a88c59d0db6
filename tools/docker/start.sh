#!/usr/bin/env bash
# Start a private Docker engine by hand, for tests where root has no systemd. Started twice, it is one engine.
#
#   tools/docker/start.sh [FOLDER]    all its state goes there (default: ${TMPDIR:-/tmp}/bumpgate-docker)
#
# On stdout comes `export DOCKER_HOST=…`, or nothing where an engine answers already, which is then used as it is.
# It touches neither bridge nor iptables, so containers have the host's network or none. tools/docker/stop.sh ends it.
set -euo pipefail
folder=${1:-${TMPDIR:-/tmp}/bumpgate-docker}
socket=$folder/docker.sock pidfile=$folder/docker.pid

say() { echo "docker/start: $*" >&2; }
answers() { timeout 5 docker "$@" version --format '{{.Server.Version}}' >/dev/null 2>&1; }
is() { [ -n "$1" ] && [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

# A stale containerd.pid would let the next dockerd wait for a dead containerd; containers run on without a dockerd.
clear_what_a_crash_left() {
    local containerd process
    containerd=$(cat "$folder/exec/containerd/containerd.pid" 2>/dev/null || true)
    if is "$containerd" containerd; then kill -KILL "$containerd"; fi
    for process in /proc/[0-9]*; do
        if tr '\0' ' ' <"$process/cmdline" 2>/dev/null | grep -q "containerd-shim.* $folder/exec/"; then
            # shellcheck disable=SC2046  # several numbers
            kill -KILL $(cat "$process"/task/*/children 2>/dev/null) "${process#/proc/}" 2>/dev/null || true
        fi
    done
    { grep -oE " $folder/[^ ]*" /proc/self/mounts || true; } | sort -r | while read -r mount; do umount -l "$mount"; done
    rm -rf --one-file-system "$pidfile" "$socket" "$folder/exec"
}

if [ ! -e "$pidfile" ] && answers; then
    say "an engine answers already at ${DOCKER_HOST:-the default socket}"
    exit 0
fi
if [ "$(id -u)" != 0 ]; then
    say "no engine answers, and only root can start one: start Docker, or set DOCKER_HOST"
    exit 2
fi
if ! command -v dockerd >/dev/null; then
    command -v apt-get >/dev/null || { say "there is no dockerd and no apt-get: install Docker"; exit 2; }
    say "installing docker.io"
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 # 1: Debian's package is not to start a service of its own
    said=$({ apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io; } </dev/null 2>&1) ||
        { say "apt-get can't install docker.io:"; tail -n 20 <<<"$said" >&2; exit 3; }
fi
if is "$(cat "$pidfile" 2>/dev/null || true)" dockerd && answers -H "unix://$socket"; then
    say "runs already in $folder"
    echo "export DOCKER_HOST=unix://$socket"
    exit 0
fi
mkdir -p "$folder"
clear_what_a_crash_left
grep -qE ' /sys/fs/cgroup[^ ]* cgroup2? ' /proc/self/mounts || mount -t cgroup2 none /sys/fs/cgroup
echo '{}' >"$folder/daemon.json" # in place of the machine's own
setsid nohup dockerd --config-file "$folder/daemon.json" \
    --data-root "$folder/data" --exec-root "$folder/exec" --host "unix://$socket" --pidfile "$pidfile" --group root \
    --exec-opt native.cgroupdriver=cgroupfs --bridge=none --iptables=false --ip6tables=false --ip-forward=false \
    --ip-masq=false --log-level warn --shutdown-timeout 5 </dev/null >"$folder/dockerd.log" 2>&1 &
child=$!
for _ in $(seq 300); do
    if answers -H "unix://$socket"; then
        echo "export DOCKER_HOST=unix://$socket"
        exit 0
    fi
    is "$child" dockerd || is "$child" setsid || is "$child" nohup || break
    sleep 0.1
done
say "dockerd does not answer; the end of $folder/dockerd.log:"
tail -n 20 "$folder/dockerd.log" >&2
kill -KILL "$child" 2>/dev/null || true
exit 4

#!/usr/bin/env bash
# A private Docker engine by hand, for tests where root has no systemd.
#
#   tools/docker/engine.sh start [FOLDER]    on stdout `export DOCKER_HOST=…`, or nothing where an engine answers already,
#                                            which is then used as it is; started twice, it is one engine
#   tools/docker/engine.sh stop [FOLDER]     by its pid, and every container of it
#   tools/docker/engine.sh purge [FOLDER]    the same, and the folder goes too, images and all
#
# All its state lies in FOLDER (default: ${TMPDIR:-/tmp}/bumpgate-docker). It touches neither bridge nor iptables, so its
# containers have the host's network or none. Where there is no dockerd, root on Debian gets docker.io installed.
set -euo pipefail
verb=${1:-} folder=${2:-${TMPDIR:-/tmp}/bumpgate-docker}
socket=$folder/docker.sock pidfile=$folder/docker.pid

say() { echo "docker/engine: $*" >&2; }
answers() { timeout 5 docker "$@" version --format '{{.Server.Version}}' >/dev/null 2>&1; }
pid() { cat "$pidfile" 2>/dev/null || true; }
# Whether a process runs (a zombie does not) and is what its number is taken for.
is() { [ -n "$1" ] && [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

# A stale containerd.pid would let the next dockerd wait for a dead containerd; containers run on without a dockerd.
clear_what_a_crash_left() {
    local containerd process
    containerd=$(cat "$folder/exec/containerd/containerd.pid" 2>/dev/null || true)
    if is "$containerd" containerd; then kill -KILL "$containerd"; fi
    for process in /proc/[0-9]*; do
        if tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -q "containerd-shim.* $folder/exec/"; then
            # shellcheck disable=SC2046  # several numbers
            kill -KILL $(cat "$process"/task/*/children 2>/dev/null) "${process#/proc/}" 2>/dev/null || true
        fi
    done
    { grep -oE " $folder/[^ ]*" /proc/self/mounts || true; } | sort -r | while read -r mount; do umount -l "$mount"; done
    rm -rf --one-file-system "$pidfile" "$socket" "$folder/exec"
}

install_dockerd() ( # one at a time: two test workers may want it at once
    flock 9
    command -v dockerd >/dev/null && exit 0
    command -v apt-get >/dev/null || { say "there is no dockerd and no apt-get: install Docker"; exit 2; }
    say "installing docker.io"
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 # 1: Debian's package is not to start a service of its own
    said=$({ apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io; } </dev/null 2>&1 9>&-) ||
        { say "apt-get can't install docker.io:"; tail -n 20 <<<"$said" >&2; exit 3; }
) 9>"${TMPDIR:-/tmp}/bumpgate-docker.lock"

start() {
    local child
    if [ ! -e "$pidfile" ] && answers; then
        say "an engine answers already at ${DOCKER_HOST:-the default socket}"
        return
    fi
    [ "$(id -u)" = 0 ] || { say "none answers, and only root can start one: start Docker, or set DOCKER_HOST"; exit 2; }
    command -v dockerd >/dev/null || install_dockerd
    if is "$(pid)" dockerd && answers --host "unix://$socket"; then
        say "runs already in $folder"
        echo "export DOCKER_HOST=unix://$socket"
        return
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
        if answers --host "unix://$socket"; then
            echo "export DOCKER_HOST=unix://$socket"
            return
        fi
        kill -0 "$child" 2>/dev/null || break
        sleep 0.1
    done
    say "dockerd does not answer; the end of $folder/dockerd.log:"
    tail -n 20 "$folder/dockerd.log" >&2
    kill -KILL "$child" 2>/dev/null || true
    exit 4
}

stop() {
    local dockerd
    dockerd=$(pid)
    if is "$dockerd" dockerd; then
        kill -TERM "$dockerd" # it stops its containers, and kills them after its --shutdown-timeout
        for _ in $(seq 300); do
            is "$dockerd" dockerd || break
            sleep 0.1
        done
        if is "$dockerd" dockerd; then kill -KILL "$dockerd"; fi
        say "dockerd $dockerd ended"
    fi
    if [ -f "$folder/daemon.json" ]; then clear_what_a_crash_left; fi
}

case $verb in
    start) start ;;
    stop) stop ;;
    purge)
        stop
        if [ -f "$folder/daemon.json" ]; then rm -rf --one-file-system "$folder"; fi # never a folder that is not its own
        ;;
    *) say "start, stop or purge, then the folder of its state"; exit 2 ;;
esac

#!/usr/bin/env bash
# Stop the Docker engine that tools/docker/start.sh started in a folder, by its pid, and every container of it.
#
#   tools/docker/stop.sh [FOLDER] [--purge]    --purge removes the folder too, images and all
set -euo pipefail
folder=${TMPDIR:-/tmp}/bumpgate-docker purge=
for word; do
    case $word in
        --purge) purge=1 ;;
        *) folder=$word ;;
    esac
done
pidfile=$folder/docker.pid
pid=$(cat "$pidfile" 2>/dev/null || true)

gone() { [ ! -d "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; }

if [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]; then
    kill -TERM "$pid" # it stops its containers, and kills them after its --shutdown-timeout
    for _ in $(seq 300); do
        gone && break
        sleep 0.1
    done
    gone || kill -KILL "$pid"
    echo "docker/stop: dockerd $pid ended" >&2
else
    echo "docker/stop: no dockerd runs in $folder" >&2
fi
if [ -n "$purge" ] && [ -f "$folder/daemon.json" ]; then # never a folder that start.sh did not make
    { grep -oE " $folder/[^ ]+" /proc/self/mounts || true; } | sort -r | while read -r mount; do umount -l "$mount"; done
    rm -rf --one-file-system "$folder"
fi

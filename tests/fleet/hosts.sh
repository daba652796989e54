#!/usr/bin/env bash
# Makes virtual hosts on this machine, for hosts.py: hosts.sh NAME...
# Runs as the first process of new namespaces (network, mounts, processes, IPC). Makes a bridge, and for each name a
# network namespace with that host name, an address on the bridge and its own shared memory. Prints
#   ready PID NAME=PID...
# that is its own process id as seen from outside, and those of the hosts as seen from inside. Then it waits for the end
# of standard input. All processes inside end with it.
set -euo pipefail

read -r outside _ < /proc/self/stat  # as long as /proc still shows the processes outside
mount -t proc proc /proc
mount -t tmpfs tmpfs /dev/shm

names=/dev/shm/names
echo "127.0.0.1 localhost" > "$names"
number=0
for name in "$@"; do
  number=$((number + 1))
  echo "10.77.0.$number $name" >> "$names"
done
mount --bind "$names" /etc/hosts

ip link add bridge type bridge
ip link set bridge up
ip link set lo up

hosts=()
number=0
for name in "$@"; do
  number=$((number + 1))
  # shellcheck disable=SC2016  # it is that shell's argument
  exec {answer}< <(exec unshare --net --uts --mount --ipc bash -c '
    hostname "$1" && mount -t tmpfs tmpfs /dev/shm && ip link set lo up && echo up && exec sleep infinity' host "$name")
  pid=$!
  read -r -u "$answer" _
  ip link add "link$number" type veth peer name eth0 netns "$pid"
  ip link set "link$number" master bridge up
  nsenter --target "$pid" --net ip address add "10.77.0.$number/24" dev eth0
  nsenter --target "$pid" --net ip link set eth0 up
  hosts+=("$name=$pid")
done

echo "ready $outside ${hosts[*]}"
read -r _ || true

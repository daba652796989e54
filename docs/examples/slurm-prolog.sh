#!/bin/bash
# A prolog for Slurm: copies to and from each GPU before a job gets the node, and drains the node where that is slower
# than it should be. Takes some seconds for each GPU. docs/ci.md explains it. What you have to look at is marked CHANGE.
#
# slurmd runs it as root on each node of a job; an exit code other than 0 drains the node and queues the job again.
set -u

expectations=h200                                   # CHANGE: of xferbench list expectations, or a file of your own
metrics=/var/lib/prometheus/node-exporter           # CHANGE: folder of node exporter's textfile collector
patience=120                                        # seconds, and less than PrologEpilogTimeout

# Nothing to do for a job without GPUs, nor where xferbench is not installed.
[[ -n ${SLURM_JOB_GPUS:-} ]] || exit 0
command -v xferbench > /dev/null || exit 0

export CUDA_DEVICE_ORDER=PCI_BUS_ID  # as Slurm counts them
folder=$(mktemp -d) || exit 0
trap 'rm -rf "$folder"' EXIT

drain() {
  logger -t xferbench "$1"
  scontrol update nodename="$(hostname -s)" state=drain reason="$1"
  exit 1
}

# A fault of this script must not empty the cluster: only what xferbench says of the GPU drains a node.
IFS=, read -r -a gpus <<< "$SLURM_JOB_GPUS"
for gpu in "${gpus[@]}"; do
  results=$folder/gpu-$gpu.json
  outcome=0
  timeout "$patience" \
    xferbench memcpy --gpu "$gpu" --host pinned --dir h2d,d2h --size 256M --budget 1 --quiet --json "$results" \
    > /dev/null || outcome=$?
  case $outcome in
    0) ;;
    1 | 3 | 6) drain "xferbench: GPU $gpu does not work (exit code $outcome)" ;;
    124) drain "xferbench: GPU $gpu took longer than $patience s" ;;
    *) continue ;;
  esac
  xferbench check "$results" --expect "$expectations" --openmetrics "$metrics/xferbench-gpu-$gpu.prom" \
    > /dev/null || outcome=$?
  ((outcome != 1)) || drain "xferbench: GPU $gpu is slower than it should be"
done
exit 0

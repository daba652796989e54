# Functions that the scripts beside this file share. To be sourced.
# shellcheck shell=bash

# Everything these scripts say goes to standard error: standard output belongs to what they run.
say() { echo "${0##*/}: $*" >&2; }
die() {
  say "$@"
  exit 1
}

# Prints the CUDA compiler that the build would find; fails if there is none.
find_nvcc() {
  local candidate
  for candidate in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_PATH:+$CUDA_PATH/bin/nvcc}" \
    "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc; do
    if [[ -n $candidate ]] && command -v "$candidate"; then return 0; fi
  done
  return 1
}

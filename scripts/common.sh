# Shared functions and settings of the scripts in this folder. To be sourced.
# shellcheck shell=bash
set -euo pipefail
# Resets user settings that would change the scripts' behaviour: bash options, CDPATH (cd prints folders), GLOBIGNORE,
# grep colours, and files that every new bash reads.
set +o noclobber +o noglob
unset CDPATH GLOBIGNORE GREP_OPTIONS GREP_COLORS BASH_ENV ENV POSIXLY_CORRECT
unset -f cd pwd grep sed cat command 2> /dev/null || true
scripts=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" > /dev/null && pwd)
# shellcheck disable=SC2034  # used by the scripts that source this file
readonly scripts root=${scripts%/*}

# Messages go to standard error, because standard output belongs to the program that a script runs. A closed standard
# error is no reason to stop.
say() { say_as_it_is "${0##*/}: $*"; }
say_as_it_is() { (trap '' PIPE && echo "$*" >&2) || true; }
die() {
  say "$@"
  exit 1
}

# Exits if the path of the checkout contains a character that CMake, the compiler or Ninja cannot handle. Call it before
# anything is installed or created. CMakeLists.txt makes the same check for direct calls of cmake.
require_usable_path() {
  local character
  for character in ';' '#' '"' \\ '[' ']' '|' '<' '>' $'\n'; do
    [[ $root == *"$character"* ]] || continue
    if [[ $character == $'\n' ]]; then character='a line break'; fi
    die "nothing was installed or built: CMake cannot build in a folder whose name contains $character;" \
      "clone into a folder without it (this one is ${root@Q})"
  done
}

# Describes what a preset builds.
describe_preset() {
  case $1 in
    simulator) echo "the simulated device only, because no GPU can be used here," ;;
    this-gpu) echo "for this machine's GPU" ;;
    release | package) echo "for every GPU architecture, which takes minutes," ;;
    *) echo "preset $1" ;;
  esac
}

# Whether this machine has a GPU that a program built here can use.
has_gpu() {
  [[ -e /dev/nvidiactl || -e /dev/dxg ]] || return 1
  find_nvcc > /dev/null || return 1
  ! command -v nvidia-smi > /dev/null || [[ $(nvidia-smi -L 2> /dev/null) == *GPU* ]]
}

# Prints the path of the CUDA compiler that the build would use; fails if there is none.
find_nvcc() {
  local candidate
  for candidate in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_PATH:+$CUDA_PATH/bin/nvcc}" \
    "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc; do
    if [[ -n $candidate ]] && command -v "$candidate"; then return 0; fi
  done
  return 1
}

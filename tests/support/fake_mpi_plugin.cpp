#include "tests/support/fake_mpi_plugin.h"

#include <cstdio>

#include "src/mpi/table.h"

extern "C" xferbench_fake_mpi xferbench_fake_mpi_behaviour;
xferbench_fake_mpi xferbench_fake_mpi_behaviour{};

namespace {

auto& behaviour = xferbench_fake_mpi_behaviour;

int begin(xferbench_mpi_operation* operation) {
  *operation = {};
  if (behaviour.begin != 0) return behaviour.begin;
  ++behaviour.operations;
  return 0;
}

void end(xferbench_mpi_operation* operation) {
  if (operation->ended == 0) --behaviour.operations;
  operation->ended = 1;
}

const xferbench_mpi_table kTable{
    .version = XFERBENCH_MPI_VERSION,
    .initialise =
        [](xferbench_mpi_numbers* mine) {
          *mine = {0, 1, 0, 1, 0};
          return behaviour.initialise;
        },
    .finalise =
        [] {
          ++behaviour.finalised;
          return 0;
        },
    .library = [] { return "Fake MPI 1"; },
    .abort = [](int) {},
    .error_text = [](int error, char* text, size_t size) { std::snprintf(text, size, "error number %d", error); },
    .barrier = [](xferbench_mpi_operation* operation) { return begin(operation); },
    .broadcast = [](void*, size_t, int, xferbench_mpi_operation* operation) { return begin(operation); },
    .gather = [](const void*, size_t, void*, const size_t*,
                 xferbench_mpi_operation* operation) { return begin(operation); },
    .all_reduce = [](double*, size_t, int, xferbench_mpi_operation* operation) { return begin(operation); },
    .send = [](const void*, size_t, int, int, xferbench_mpi_operation* operation) { return begin(operation); },
    .receive = [](void*, size_t, int, int, xferbench_mpi_operation* operation) { return begin(operation); },
    .test =
        [](xferbench_mpi_operation* operation, int* done) {
          *done = behaviour.endless == 0 || behaviour.test != 0 ? 1 : 0;
          if (*done != 0) end(operation);
          return behaviour.test;
        },
    .release = end,
};

}  // namespace

extern "C" const xferbench_mpi_table* xferbench_mpi(int version);
const xferbench_mpi_table* xferbench_mpi(int version) { return version == behaviour.version ? &kTable : nullptr; }

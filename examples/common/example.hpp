// What is around each example: its arguments, the stretch of it that is measured, and its exit code.
//   --steps N      how often the stretch does what the example is about
//   --size BYTES   of what one step works on; each example says what that is
//   --repeat N     the stretch is measured so often
// Each time the stretch is measured a line says "steps: 12.345 ms". Exit codes: 0 all is well, 1 an error, or results
// that are wrong, 2 wrong arguments, 3 no GPU.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cuda.hpp"

namespace examples {

struct Settings {
  std::size_t steps = 0;
  std::size_t size = 0;
  std::size_t repeat = 1;
};

/// Runs the stretch once to warm up, in which CUDA loads what it needs, and then measures it. The range of NVTX is what
/// `xferbench explain --range steps` looks at. The stretch has to wait for the GPU at its end. Says how often it ran.
template <class Stretch>
std::size_t measure(const Settings& settings, Stretch stretch) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  stretch();
  for (std::size_t i = 0; i < settings.repeat; ++i) {
    nvtxRangePushA("steps");
    const auto begin = std::chrono::steady_clock::now();
    stretch();
    const auto end = std::chrono::steady_clock::now();
    nvtxRangePop();
    std::printf("steps: %.3f ms\n", Milliseconds(end - begin).count());
  }
  return 1 + settings.repeat;
}

inline std::size_t parse_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0) {
    throw std::invalid_argument("'" + std::string(text) + "' is no number above 0");
  }
  return value;
}

inline Settings parse_arguments(int count, char** words, Settings settings) {
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = words[i];
    std::size_t* value = name == "--steps"    ? &settings.steps
                         : name == "--size"   ? &settings.size
                         : name == "--repeat" ? &settings.repeat
                                              : nullptr;
    if (value == nullptr || i + 1 == count) {
      throw std::invalid_argument("'" + std::string(name) +
                                  "' is unknown or lacks its value; there are --steps N, --size BYTES, --repeat N");
    }
    *value = parse_number(words[i + 1]);
  }
  if (settings.size % 4 != 0) throw std::invalid_argument("--size must be a multiple of 4: values have 4 bytes");
  return settings;
}

/// The whole of main: `example` takes the settings and says whether its results are right.
template <class Example>
int run_example(int count, char** words, Settings defaults, Example example) {
  try {
    const Settings settings = parse_arguments(count, words, defaults);
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
      std::fprintf(stderr, "there is no GPU that CUDA can use\n");
      return 3;
    }
    if (example(settings)) return 0;
    std::fprintf(stderr, "the results are wrong\n");
    return 1;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace examples

// Marks for profilers (NVTX), in a domain of their own.
#pragma once

namespace xferbench::cuda {

/// NVTX is headers only: where no profiler has put itself into the process, its calls return at once and nothing is
/// loaded. In builds whose toolkit lacks the headers nothing is marked.
class Ranges {
 public:
  Ranges();
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;
  ~Ranges();

  void begin(const char* name) const;
  void end() const;

 private:
  void* domain_ = nullptr;
};

}  // namespace xferbench::cuda

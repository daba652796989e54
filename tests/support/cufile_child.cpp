// The process of cuFile for machines without a GPU: reads go into host memory. FAKE_CUFILE_LIBRARY names the library.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "scenarios/storage/cufile_server.hpp"

namespace {

class HostMemory final : public xferbench::CufileMemory {
 public:
  explicit HostMemory(std::size_t bytes) : bytes_(bytes) {}
  [[nodiscard]] std::byte* data() override { return bytes_.data(); }
  void fill(std::byte value) override { std::ranges::fill(bytes_, value); }
  void fetch(std::span<std::byte> to, std::uint64_t offset) override {
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
  }
  [[nodiscard]] xferbench::HostRuntime& host() override { return host_; }

 private:
  std::vector<std::byte> bytes_;
  xferbench::RealHost host_;
};

}  // namespace

int main() {
  xferbench::serve_cufile([](std::size_t bytes) { return std::make_unique<HostMemory>(bytes); },
                          {std::getenv("FAKE_CUFILE_LIBRARY")});
}

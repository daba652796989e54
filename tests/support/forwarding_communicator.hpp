// A communicator that forwards all calls, as a base class for tests that watch or change some of them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>

#include "ranks/communicator.hpp"

namespace xferbench::test {

class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(Communicator& ranks) : Communicator(ranks.numbers()), ranks_(ranks) {}

  [[nodiscard]] std::string library() const override { return ranks_.library(); }
  [[nodiscard]] PendingPtr barrier() override { return ranks_.barrier(); }
  [[nodiscard]] PendingPtr broadcast(std::span<std::byte> data, int root) override {
    return ranks_.broadcast(data, root);
  }
  [[nodiscard]] PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                  std::span<const std::size_t> sizes) override {
    return ranks_.gather(mine, all, sizes);
  }
  [[nodiscard]] PendingPtr all_reduce(std::span<double> values, Reduction reduction) override {
    return ranks_.all_reduce(values, reduction);
  }
  [[nodiscard]] PendingPtr send(int to, int tag, std::span<const std::byte> data) override {
    return ranks_.send(to, tag, data);
  }
  [[nodiscard]] PendingPtr receive(int from, int tag, std::span<std::byte> data) override {
    return ranks_.receive(from, tag, data);
  }
  [[noreturn]] void abort(int code) noexcept override {
    ranks_.abort(code);
    std::abort();  // GCC does not know that the virtual call does not return
  }

 private:
  Communicator& ranks_;
};

}  // namespace xferbench::test

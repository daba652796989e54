// The buffers, streams and copies of a group of GPUs, with timed regions and verification.
#pragma once

#include <cstddef>

#include "measure/region.hpp"
#include "scenarios/together/case.hpp"

namespace xferbench {

class GroupCopies {
 public:
  /// Allocates all buffers. `group`: the case's GPUs, in order. For copies between GPUs, the caller must have enabled
  /// peer access.
  GroupCopies(const TogetherCase& c, std::vector<Device*> group, std::uint64_t seed);

  /// A GPU that owns copies.
  struct Member {
    int gpu = 0;
    std::vector<std::size_t> copies;
  };
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] const std::vector<GroupCopy>& copies() const { return plan_; }

  /// Fills the sources.
  void prepare();
  /// Runs all copies once on poisoned memory. Throws VerificationError if any byte is wrong.
  void verify(Machine& machine, const Region& region, VerifiedRun run);

  /// A region that runs all copies at once; the times of its streams are in the order of copies().
  [[nodiscard]] Region at_once();
  [[nodiscard]] Region alone(const Member& member);

 private:
  /// A host buffer and its expected contents.
  struct Payload {
    HostBuffer host;
    PayloadPart part{};
    std::uint64_t seed = 0;

    void poison(std::size_t offset, std::size_t bytes) const;
  };
  /// A copy with the buffers in which it begins and ends.
  struct Placed {
    Copy copy{};
    Device* device = nullptr;  ///< the GPU that holds on_device
    DeviceView on_device{};    ///< device end of the copy: the destination or, for D2H, the source
    std::size_t payload = 0;   ///< index in payloads_ of the host end or, for p2p, of the buffer for the check
    std::size_t offset = 0;    ///< byte offset in that buffer
    std::uint64_t seed = 0;    ///< for p2p: seed of the data
    Stream stream{};
  };

  std::size_t add_payload(Device& device, std::size_t bytes, HostMemory kind, std::uint64_t seed);
  void place_host_copies(std::uint64_t seed);
  void place_peer_copies(std::uint64_t seed);
  void find_members();
  [[nodiscard]] std::byte* on_host(const Placed& placed) const {
    return payloads_[placed.payload].host.data + placed.offset;
  }
  [[nodiscard]] Region region_of(const char* name, std::vector<std::size_t> copies);
  void poison();
  void check(std::span<const std::size_t> copies);
  void check_peer_copy(std::size_t copy);

  const TogetherCase case_;
  std::vector<Device*> group_;
  std::vector<GroupCopy> plan_;
  std::vector<Member> members_;
  std::vector<DeviceBuffer> memory_;
  std::vector<DeviceBuffer> sources_;  ///< data that each GPU of the group sends to other GPUs; may be unallocated
  std::vector<Payload> payloads_;
  std::vector<Placed> placed_;  ///< one per copy, in the order of plan_
};

}  // namespace xferbench

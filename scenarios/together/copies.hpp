// Not a scenario: the memory, streams and copies of a group of GPUs, as regions to time and as a payload to check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/machine.hpp"
#include "measure/region.hpp"
#include "scenarios/together/case.hpp"

namespace xferbench {

class GroupCopies {
 public:
  /// Allocates everything. `group`: the case's GPUs, in its order. Where they copy to each other, they reach each
  /// other's memory already.
  GroupCopies(const TogetherCase& c, std::vector<Device*> group, std::uint64_t seed);

  /// A GPU that has some of the copies, and which.
  struct Member {
    int gpu = 0;  ///< its number
    std::vector<std::size_t> copies;
  };
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] const std::vector<GroupCopy>& copies() const { return plan_; }

  /// Real data where the copies read from.
  void prepare();
  /// One run of all copies onto poisoned memory. Throws VerificationError unless every byte arrived where it belongs.
  void verify(Machine& machine, const Region& region, VerifiedRun run);

  /// All copies at once; times of streams are in the order of copies().
  [[nodiscard]] Region at_once();
  /// Those of one member and nothing else.
  [[nodiscard]] Region alone(const Member& member);

 private:
  /// Memory on the host and what belongs into it.
  struct Payload {
    HostBuffer host;
    PayloadPart part{};
    std::uint64_t seed = 0;

    void poison(std::size_t offset, std::size_t bytes) const;
  };
  /// A copy with its memory.
  struct Placed {
    Copy copy{};
    Device* device = nullptr;  ///< that holds its destination, or, of a copy to the host, its source
    DeviceView on_device{};    ///< that memory
    std::size_t payload = 0;   ///< among payloads_: where its bytes are on the host, or come to be looked at
    std::size_t offset = 0;    ///< in that
    std::uint64_t seed = 0;    ///< between GPUs: of the bytes that the copy moves
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
  std::vector<DeviceBuffer> sources_;  ///< between GPUs: what each of the group sends; empty where that is nothing
  std::vector<Payload> payloads_;
  std::vector<Placed> placed_;  ///< in the order of plan_
};

}  // namespace xferbench

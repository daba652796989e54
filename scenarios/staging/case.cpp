#include "scenarios/staging/case.hpp"

#include <fmt/format.h>

#include "device/cpu_cache.hpp"
#include "device/pages.hpp"
#include "model/chunk_schedule.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

namespace {

/// Bytes of the smallest chunk if chunk sizes grow or shrink: threads fill it in about 26 us, and the link needs 5 us
/// for it, which is twice the fixed cost of a copy.
constexpr std::size_t kLeastTapered = 256 * KiB;
/// Chunk size ratio of consecutive rounds (one chunk per thread): the threads' total copy rate over the link's rate.
constexpr double kTaper = 1.25;

/// Returns the value of a choice axis; the first choice if the case does not have the axis.
template <class Enumeration>
Enumeration first_unless_given(const Case& c, std::string_view axis, std::span<const std::string_view> words) {
  return c.has(axis) ? c.one_of<Enumeration>(axis, words) : Enumeration{};
}

}  // namespace

StagingCase staging_case(const Case& c) {
  return {.dir = c.word("dir"),
          .host = c.word("host"),
          .direction = c.one_of<Direction>("dir", kDirections),
          .memory = host_memory(c.word("host")),
          .method = c.one_of<StagingMethod>("method", kStagingMethods),
          .size = c.count("size"),
          .threads = c.count_or("threads", 0),
          .slot = c.count_or("slot", 0),
          .slots = c.count_or("slots", 0),
          .crew = first_unless_given<SlotCrew>(c, "crew", kSlotCrews),
          .sizes = first_unless_given<ChunkSizes>(c, "chunk-sizes", kChunkSizes),
          .stores = first_unless_given<StagingStores>(c, "stores", kStagingStores),
          .slot_memory = host_memory(c.has("slot-memory") ? c.word("slot-memory") : kSlotMemory.front()),
          .idle = first_unless_given<Worker::Idle>(c, "idle", kStagingIdle)};
}

std::size_t StagingCase::chunk_bytes() const {
  constexpr std::size_t kLeast = 64 * KiB;
  // If all threads fill or empty one chunk together, the first and the last chunk take little time: 8 chunks suffice.
  const std::size_t parts = works_together() ? 8 : 2 * threads;
  return std::min(slot, std::max(kLeast, in_whole_pages(size / parts)));
}

std::vector<model::Chunk> StagingCase::chunks() const {
  return model::chunk_schedule(size, {.most = chunk_bytes(),
                                      .least = kLeastTapered,
                                      .page = kStagingPage,
                                      .abreast = abreast(),
                                      .taper = kTaper,
                                      .grow = sizes == ChunkSizes::growing || sizes == ChunkSizes::tapered,
                                      .shrink = sizes == ChunkSizes::shrinking || sizes == ChunkSizes::tapered});
}

std::uint64_t StagingCase::ring_bytes() const {
  return method == StagingMethod::threads ? static_cast<std::uint64_t>(abreast()) * slots * chunk_bytes() : 0;
}

std::string StagingCase::describe_method() const {
  const std::string_view name = kStagingMethods[static_cast<std::size_t>(method)];
  if (!has_workers()) return std::string(name);
  const bool pins = method == StagingMethod::register_chunks;
  std::string text = fmt::format("{} threads{}, {} {} of {}", threads, pins ? " that pin" : "", slots,
                                 pins ? "chunks" : "slots", format_size(chunk_bytes()));
  if (crew != SlotCrew::apart) text += works_together() ? " together" : " in one stream";
  if (sizes != ChunkSizes::equal) text += fmt::format(", {}", kChunkSizes[static_cast<std::size_t>(sizes)]);
  if (slot_memory != HostMemory::pinned) text += fmt::format(", {}", to_text(slot_memory));
  if (stores == StagingStores::streaming) text += ", streaming stores";
  if (idle == Worker::Idle::poll) text += ", polling";
  return text;
}

std::vector<Axis> staging_axes() {
  const auto of_crew = [](Axis axis) { return only_with("method", {"threads", "register-chunks"}, std::move(axis)); };
  const auto of_slots = [](Axis axis) { return only_with("method", {"threads"}, std::move(axis)); };
  return {
      choice_axis("dir", {"h2d", "d2h"}, {.defaults = "h2d,d2h", .help = "direction of the copy"}),
      choice_axis("host", words(kStagingPages),
                  {.defaults = "pageable", .help = "pages of the data: the system's default, small or huge ones"}),
      size_axis("size", {.defaults = "256M", .help = "bytes to move"}),
      choice_axis("method", words(kStagingMethods),
                  {.defaults = "direct,register,threads",
                   .help = "direct: plain copy; register: pin, copy, unpin; threads: through pinned slots; "
                           "register-chunks: threads pin, copy and unpin chunk by chunk"}),
      of_crew({.name = "threads", .defaults = "1:8", .help = "number of CPU threads", .max = 256}),
      of_crew(size_axis("slot",
                        {.defaults = "2M",
                         .help = "bytes per slot (pinned buffer), a multiple of 4 KiB; fewer if the payload is small",
                         .min = kStagingPage,
                         .max = 1 * GiB})),
      of_crew({.name = "slots",
               .defaults = "3",
               .help = "slots per thread, with --crew together in all; register-chunks: chunks pinned at once",
               .max = 1024}),
      of_slots(choice_axis("crew", words(kSlotCrews),
                           {.help = "apart: slots and a stream for each thread; one-stream: one stream for all; "
                                    "together: all threads fill one slot after the other; default: apart"})),
      of_crew(choice_axis("chunk-sizes", words(kChunkSizes),
                          {.help = "equal: all of slot size; growing: small chunks first; shrinking: small chunks "
                                   "last; tapered: small at both ends; default: equal"})),
      of_slots(choice_axis(
          "stores", words(kStagingStores),
          {.help =
               "how threads write: through the CPU's caches (cached) or around them (streaming); default: cached"})),
      of_slots(choice_axis("slot-memory", words(kSlotMemory),
                           {.help = "kind of host memory of the slots; write-combined: h2d only; default: pinned"})),
      of_crew(choice_axis("idle", words(kStagingIdle),
                          {.help = "what threads do between payloads: sleep after 2 ms, or poll, each on its own core, "
                                   "which saves the wake-up; default: sleep"})),
  };
}

std::optional<SkipReason> reason_against(const StagingCase& c) {
  if (c.slot % kStagingPage != 0) {
    return SkipReason::impossible(fmt::format("--slot {} is not a multiple of 4 KiB", format_size_exact(c.slot)));
  }
  if (c.slot_memory == HostMemory::write_combined && c.direction == Direction::d2h) {
    return SkipReason::meaningless(
        "write-combined slots are not for d2h: the host would have to read such memory, which is very slow");
  }
  if (c.stores == StagingStores::streaming && !can_stream_stores()) {
    return SkipReason::unavailable("streaming stores need x86-64; use --stores cached");
  }
  if (c.method == StagingMethod::register_chunks && page_bytes() != kStagingPage) {
    return SkipReason::unavailable("chunks are pages of 4 KiB, but this system has larger pages");
  }
  return std::nullopt;
}

std::optional<SkipReason> reason_not_to_simulate(const StagingCase& c) {
  if (c.stores == StagingStores::streaming) {
    return SkipReason::unavailable("the simulator does not model CPU caches; use --stores cached");
  }
  if (c.slot_memory != HostMemory::pinned) {
    return SkipReason::unavailable(
        "the simulator does not distinguish kinds of pinned memory; use --slot-memory pinned");
  }
  if (c.idle == Worker::Idle::poll) {
    return SkipReason::unavailable("the simulator does not model the time to wake threads; use --idle sleep");
  }
  return std::nullopt;
}

}  // namespace xferbench

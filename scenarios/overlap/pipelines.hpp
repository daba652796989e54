// Not a scenario: the ways to arrange copy-in, work and copy-out of a payload's chunks so that they overlap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/non_copyable.hpp"
#include "measure/region.hpp"
#include "scenarios/common/chunked_work.hpp"

namespace xferbench {

enum class Strategy {
  serial,         ///< blocking copies around one kernel: what one writes first
  streams,        ///< chunks take turns on N streams, each chunk's three stages in one stream
  engines,        ///< a stream for each engine, with events between them
  double_buffer,  ///< the same with two device buffers that alternate
  batch,          ///< the same with the copies of several chunks in one call (cudaMemcpyBatchAsync)
  zero_copy,      ///< one kernel that reads and writes the host's memory itself
  multipath,      ///< engines, with chunks that other GPUs pass on, to use their links
};

/// How the chunks are arranged; not how the payload is cut.
struct PipelineShape {
  Strategy strategy = Strategy::streams;
  bool graph = false;       ///< captured once and replayed
  std::size_t streams = 4;  ///< of Strategy::streams
  StreamKind stream_kind = StreamKind::nonblocking;
  bool breadth_first = false;    ///< streams: stage after stage for as many chunks as there are streams
  std::size_t batch = 4;         ///< chunks whose copies are submitted together
  unsigned blocks = 0;           ///< of a kernel on host memory; 0: kZeroCopyBlocks
  std::size_t helper_slots = 4;  ///< multipath: chunks that each helper holds at once, in each direction
};

/// A strategy as people name it: a word, and what it stands for. "graph" is the graph of the fastest, engines. There is
/// none of a batch: CUDA does not let cudaMemcpyBatchAsync be captured; nor of multipath.
struct StrategyWord {
  std::string_view word;
  Strategy strategy;
  bool graph = false;
};
inline constexpr std::array<StrategyWord, 11> kStrategyWords{{{"serial", Strategy::serial},
                                                              {"streams", Strategy::streams},
                                                              {"engines", Strategy::engines},
                                                              {"double-buffer", Strategy::double_buffer},
                                                              {"batch", Strategy::batch},
                                                              {"zero-copy", Strategy::zero_copy},
                                                              {"graph", Strategy::engines, true},
                                                              {"graph-streams", Strategy::streams, true},
                                                              {"graph-double-buffer", Strategy::double_buffer, true},
                                                              {"graph-zero-copy", Strategy::zero_copy, true},
                                                              {"multipath", Strategy::multipath}}};
/// Throws std::logic_error if there is no such word: a mistake in a scenario's axis.
const StrategyWord& strategy_word(std::string_view word);

/// What people call the kinds of streams, in the order of StreamKind.
inline constexpr std::array<std::string_view, 3> kStreamKindNames{"nonblocking", "blocking", "default"};

/// Enough thread blocks to fill the link of an H200; more get in each other's way (docs/lab/overlap.md).
inline constexpr unsigned kZeroCopyBlocks = 66;

/// Owns its streams and events. The work must outlive it.
class Pipeline : NonCopyable {
 public:
  explicit Pipeline(std::size_t operations) : operations_(operations) {}
  virtual ~Pipeline() = default;

  /// Enqueues the whole payload once.
  virtual void submit() = 0;
  /// Everything that submit() enqueues to, without repetition.
  [[nodiscard]] virtual std::vector<StreamView> streams() const = 0;
  /// How much submit() enqueues to the busiest of them.
  [[nodiscard]] std::size_t operations() const { return operations_; }
  /// Whether a gate may hold it back: nothing in it blocks the host.
  [[nodiscard]] virtual bool gateable() const { return true; }
  /// All launches in the streams they belong to, and no copies; nothing where there is but one stream of kernels.
  virtual void submit_kernels() {}
  /// Spoils what it holds of a payload beside the memory of the work, so that a pass cannot use what another one left.
  virtual void poison() {}

 private:
  std::size_t operations_;
};

/// How much a pipeline enqueues to the busiest of its streams.
std::size_t operations_of(const ChunkedWork::Shape& work, const PipelineShape& shape);
/// Whether a timed pass holds it behind a gate, so that what the host takes to submit it is hidden.
bool fits_gate(const ChunkedWork::Shape& work, const PipelineShape& shape);
/// How many passes a gate holds together, at least one.
unsigned most_behind_gate(const ChunkedWork::Shape& work, const PipelineShape& shape);

/// `helpers`: of Strategy::multipath; they reach the device's memory as long as the pipeline lives.
std::unique_ptr<Pipeline> make_pipeline(Device& device, ChunkedWork& work, const PipelineShape& shape,
                                        std::span<Device* const> helpers = {});

/// The same on one GPU with a stamp of the GPU's timer in front, which a graph has in it: `slot`, in page-locked
/// memory, outlives it.
std::unique_ptr<Pipeline> make_stamped_pipeline(Device& device, ChunkedWork& work, const PipelineShape& shape,
                                                std::uint64_t* slot);

/// A way of cutting a payload, and the pipeline over it.
struct CutPipeline {
  CutPipeline(Device& device, const ChunkedWork::Shape& cut, const PipelineShape& shape,
              std::shared_ptr<Payload> payload)
      : work(std::make_unique<ChunkedWork>(device, cut, std::move(payload))),
        pipeline(make_pipeline(device, *work, shape)) {}

  std::unique_ptr<ChunkedWork> work;  // where the pipeline knows it, wherever this is moved
  std::unique_ptr<Pipeline> pipeline;
};

/// The pipeline as a region to time. The pipeline must outlive it.
Region region_of(Pipeline& pipeline, std::string name);
/// The same with a check of its output; the work must outlive it, too.
Region checked_region_of(Pipeline& pipeline, const ChunkedWork& work, std::string name);

/// One pass on poisoned memory: the buffers hold right results from the passes before. At full speed, as timed passes
/// run, a dependency that only holds while the host submits slowly shows. Throws VerificationError.
void verify(Machine& machine, ChunkedWork& work, Pipeline& pipeline, VerifiedRun run);

}  // namespace xferbench

// The pipelines of scenario overlap: ways to overlap copy in, kernel and copy out of a payload's chunks.
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
  serial,         ///< blocking copies around one kernel, the simplest program
  streams,        ///< chunks rotate over N streams; each chunk's three stages are in one stream
  engines,        ///< one stream per engine (H2D, kernel, D2H), ordered by events
  double_buffer,  ///< engines with two alternating device buffers
  batch,          ///< engines, with the copies of several chunks in one call (cudaMemcpyBatchAsync)
  zero_copy,      ///< one kernel that accesses host memory directly
  multipath,      ///< engines, with some chunks relayed by other GPUs over their links
};

/// How the chunks are arranged, as opposed to how the payload is cut.
struct PipelineShape {
  Strategy strategy = Strategy::streams;
  bool graph = false;       ///< captured once as a CUDA graph and replayed
  std::size_t streams = 4;  ///< for Strategy::streams only
  StreamKind stream_kind = StreamKind::nonblocking;
  bool breadth_first = false;    ///< streams: submits stage by stage, for as many chunks at a time as streams
  std::size_t batch = 4;         ///< batch: chunks whose copies are submitted together
  unsigned blocks = 0;           ///< zero_copy: grid size; 0: kZeroCopyBlocks
  std::size_t helper_slots = 4;  ///< multipath: chunks that each helper holds at once, per direction
};

/// A word of --strategy and its meaning. "graph" is a graph of engines, the fastest. There is no graph of batch,
/// because cudaMemcpyBatchAsync cannot be captured, nor of multipath.
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
/// Throws std::logic_error for an unknown word, which is a programming error.
const StrategyWord& strategy_word(std::string_view word);

/// Indexed by StreamKind.
inline constexpr std::array<std::string_view, 3> kStreamKindNames{"nonblocking", "blocking", "default"};

/// Enough thread blocks to saturate the link of an H200; more slow each other down (docs/lab/overlap.md).
inline constexpr unsigned kZeroCopyBlocks = 66;

/// Owns its streams and events. `work` of make_pipeline() must outlive it.
class Pipeline : NonCopyable {
 public:
  explicit Pipeline(std::size_t operations) : operations_(operations) {}
  virtual ~Pipeline() = default;

  /// Enqueues one pass over the whole payload.
  virtual void submit() = 0;
  /// All streams that submit() uses, each once.
  [[nodiscard]] virtual std::vector<StreamView> streams() const = 0;
  /// Number of operations that submit() enqueues to the busiest stream.
  [[nodiscard]] std::size_t operations() const { return operations_; }
  /// Whether it may be timed behind a gate, which requires that no call blocks the host.
  [[nodiscard]] virtual bool gateable() const { return true; }
  /// Enqueues the kernels only, in their own streams; does nothing if there is only one kernel stream.
  virtual void submit_kernels() {}
  /// Poisons buffers of its own, outside of the payload, so that a pass cannot use data of an earlier one.
  virtual void poison() {}

 private:
  std::size_t operations_;
};

/// Number of operations that a pass enqueues to the busiest stream.
std::size_t operations_of(const ChunkedWork::Shape& work, const PipelineShape& shape);
/// Whether a timed pass fits behind a gate, which hides the host's submission.
bool fits_gate(const ChunkedWork::Shape& work, const PipelineShape& shape);
/// How many passes fit behind one gate; at least 1.
unsigned most_behind_gate(const ChunkedWork::Shape& work, const PipelineShape& shape);

/// `helpers`: for Strategy::multipath only; need peer access to the device during the lifetime of the pipeline.
std::unique_ptr<Pipeline> make_pipeline(Device& device, ChunkedWork& work, const PipelineShape& shape,
                                        std::span<Device* const> helpers = {});

/// The pipeline on one GPU, preceded by a GPU time stamp, which is part of the graph if there is one. `slot` is in
/// page-locked memory and must outlive the pipeline.
std::unique_ptr<Pipeline> make_stamped_pipeline(Device& device, ChunkedWork& work, const PipelineShape& shape,
                                                std::uint64_t* slot);

/// A payload cut into chunks, and a pipeline over it.
struct CutPipeline {
  CutPipeline(Device& device, const ChunkedWork::Shape& cut, const PipelineShape& shape,
              std::shared_ptr<Payload> payload)
      : work(std::make_unique<ChunkedWork>(device, cut, std::move(payload))),
        pipeline(make_pipeline(device, *work, shape)) {}

  std::unique_ptr<ChunkedWork> work;  // by pointer, because the pipeline refers to it when this object is moved
  std::unique_ptr<Pipeline> pipeline;
};

/// The pipeline as a timed region. The pipeline must outlive the region.
Region region_of(Pipeline& pipeline, std::string name);
/// Like region_of(), with a check of the output; `work` must outlive the region, too.
Region checked_region_of(Pipeline& pipeline, const ChunkedWork& work, std::string name);

/// One pass on poisoned memory, because the buffers hold correct results of earlier passes. At full speed, as in timed
/// passes, a missing dependency shows that a slow host would hide. Throws VerificationError.
void verify(Machine& machine, ChunkedWork& work, Pipeline& pipeline, VerifiedRun run);

}  // namespace xferbench

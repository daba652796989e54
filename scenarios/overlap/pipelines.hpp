// The pipelines of scenario overlap: strategies that overlap the H2D copies, kernels and D2H copies of chunks.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

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

/// How the chunks are submitted to streams. How the payload is cut into chunks is in ChunkedWork::Shape.
struct PipelineShape {
  Strategy strategy = Strategy::streams;
  bool graph = false;       ///< the pass is captured once as a CUDA graph and replayed
  std::size_t streams = 4;  ///< for Strategy::streams only
  StreamKind stream_kind = StreamKind::nonblocking;
  bool breadth_first = false;    ///< for Strategy::streams only: submits stage by stage, not chunk by chunk
  std::size_t batch = 4;         ///< for Strategy::batch only: number of chunks that are copied by one call
  unsigned blocks = 0;           ///< for Strategy::zero_copy only: grid size; 0: kZeroCopyBlocks
  std::size_t helper_slots = 4;  ///< for Strategy::multipath only: chunks that each helper holds per direction
};

/// A value of --strategy and its meaning. "graph" is a graph of Strategy::engines, the fastest strategy. There is no
/// graph of batch, because cudaMemcpyBatchAsync cannot be captured, and none of multipath.
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

/// Number of thread blocks that saturates the link of an H200; more blocks slow each other down (docs/lab/overlap.md).
inline constexpr unsigned kZeroCopyBlocks = 66;

/// Base class of pipelines. Owns its streams and events; refers to the payload `work`, which must outlive the pipeline.
class Pipeline : NonCopyable {
 public:
  explicit Pipeline(std::size_t operations) : operations_(operations) {}
  virtual ~Pipeline() = default;

  /// Enqueues one pass over the whole payload.
  virtual void submit() = 0;
  /// Returns all streams that submit() uses, each once.
  [[nodiscard]] virtual std::vector<StreamView> streams() const = 0;
  /// Returns the number of operations that submit() enqueues in the busiest stream.
  [[nodiscard]] std::size_t operations() const { return operations_; }
  /// Whether a pass may be timed behind a gate, which requires that no call of submit() blocks the host.
  [[nodiscard]] virtual bool gateable() const { return true; }
  /// Enqueues the kernels only, in their own streams; does nothing if there is only one kernel stream.
  virtual void submit_kernels() {}
  /// Poisons the pipeline's own buffers outside of the payload, so that a pass cannot use data of an earlier pass.
  virtual void poison() {}

 private:
  std::size_t operations_;
};

/// Returns the number of operations that a pass enqueues in the busiest stream.
std::size_t operations_of(const ChunkedWork::Shape& work, const PipelineShape& shape);
/// Whether a timed pass fits behind a gate, which hides the host's submission.
bool fits_gate(const ChunkedWork::Shape& work, const PipelineShape& shape);
/// Returns how many passes fit behind one gate; at least 1.
unsigned most_behind_gate(const ChunkedWork::Shape& work, const PipelineShape& shape);

/// Creates the pipeline for a shape. `helpers` are used for Strategy::multipath only; they need peer access to the
/// device during the lifetime of the pipeline.
std::unique_ptr<Pipeline> make_pipeline(Device& device, ChunkedWork& work, const PipelineShape& shape,
                                        std::span<Device* const> helpers = {});

/// Creates a pipeline on one GPU whose passes first write a GPU time stamp to `slot`; in a graph, the stamp is a part
/// of the graph. `slot` must be page-locked memory and outlive the pipeline.
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

/// Returns a region that times one pass of the pipeline, which must outlive the region.
Region region_of(Pipeline& pipeline, std::string name);
/// Like region_of(), and checks the output after the pass; `work` must outlive the region, too.
Region checked_region_of(Pipeline& pipeline, const ChunkedWork& work, std::string name);

/// Runs one pass on poisoned memory and checks its output; without poison the buffers would hold correct results of
/// earlier passes. A pass at full speed, as in timed passes, also shows missing dependencies that a slow host would
/// hide. Throws VerificationError if the output is wrong.
void verify(Machine& machine, ChunkedWork& work, Pipeline& pipeline, VerifiedRun run);

}  // namespace xferbench

#include "scenarios/overlap/pipelines.hpp"

#include <stdexcept>

#include "scenarios/overlap/peer_relay.hpp"

namespace xferbench {

std::size_t operations_of(const ChunkedWork::Shape& work, const PipelineShape& shape) {
  if (shape.graph) return 1;
  const std::size_t chunks = work.chunks * work.rounds;
  const auto shares = [](std::size_t all, std::size_t parts) { return (all + parts - 1) / parts; };
  switch (shape.strategy) {
    case Strategy::serial: return 3;
    case Strategy::zero_copy: return 1;
    case Strategy::multipath: return chunks * (2 + work.kernels_per_chunk);
    case Strategy::streams: {
      const std::size_t streams = shape.stream_kind == StreamKind::legacy_default ? 1 : shape.streams;
      return shares(chunks, streams) * (2 + work.kernels_per_chunk);
    }
    case Strategy::engines:
    case Strategy::double_buffer:
    case Strategy::batch: break;
  }
  // The kernel stream has the most operations: all kernels, two event operations for each group of chunks that is
  // copied together and, if slots limit the chunks in flight, a wait and a record per chunk.
  const bool limited = work.slots != 0 && work.slots < chunks;
  const std::size_t group = shape.strategy == Strategy::batch ? shape.batch : 1;
  return chunks * (work.kernels_per_chunk + (limited ? 2 : 0)) + 2 * shares(chunks, group);
}

namespace {

/// Returns the number of streams to which a pass is submitted.
std::size_t streams_of(const PipelineShape& shape) {
  if (shape.graph || shape.strategy == Strategy::serial || shape.strategy == Strategy::zero_copy) return 1;
  if (shape.strategy != Strategy::streams) return 3;
  return shape.stream_kind == StreamKind::legacy_default ? 1 : shape.streams;
}

/// A pipeline that submits the whole payload with a single call, in one stream.
class OneCall final : public Pipeline {
 public:
  using Call = std::function<void(StreamView)>;
  OneCall(Stream stream, std::size_t operations, bool gateable, Call call)
      : Pipeline(operations), stream_(std::move(stream)), gateable_(gateable), call_(std::move(call)) {}

  void submit() override { call_(stream_); }
  [[nodiscard]] std::vector<StreamView> streams() const override { return {stream_}; }
  [[nodiscard]] bool gateable() const override { return gateable_; }

 private:
  Stream stream_;
  bool gateable_;
  Call call_;
};

std::unique_ptr<Pipeline> serial(Device& device, ChunkedWork& work, std::size_t operations) {
  return std::make_unique<OneCall>(device.make_stream(StreamKind::legacy_default), operations, false,
                                   [&work](StreamView stream) { work.run_blocking(stream); });
}

std::unique_ptr<Pipeline> zero_copy(Device& device, ChunkedWork& work, std::size_t operations, unsigned blocks) {
  return std::make_unique<OneCall>(device.make_stream(StreamKind::nonblocking), operations, true,
                                   [&work, blocks](StreamView stream) {
                                     work.launch_on_host_memory(stream, blocks == 0 ? kZeroCopyBlocks : blocks);
                                   });
}

/// Strategy::streams: the three stages of a chunk are in one stream, and stream order is the only order that is needed.
/// One device buffer per stream is enough, because a chunk starts when the previous chunk of its stream has ended.
class RoundRobin final : public Pipeline {
 public:
  RoundRobin(Device& device, ChunkedWork& work, const PipelineShape& shape)
      : Pipeline(operations_of(work.shape(), shape)),
        tracer_(device.machine().tracer()),
        work_(work),
        breadth_first_(shape.breadth_first) {
    for (std::size_t i = 0; i < shape.streams; ++i) streams_.push_back(device.make_stream(shape.stream_kind));
    // If the streams are default streams, all handles refer to the same stream.
    distinct_ = shape.stream_kind == StreamKind::legacy_default ? 1 : streams_.size();
  }

  void submit() override { breadth_first_ ? submit_breadth_first() : submit_depth_first(); }
  [[nodiscard]] std::vector<StreamView> streams() const override {
    return {streams_.begin(), streams_.begin() + static_cast<std::ptrdiff_t>(distinct_)};
  }
  void submit_kernels() override {
    for (std::size_t i = 0; i < work_.chunks().size(); ++i) work_.launch(i, stream_of(i));
  }

 private:
  [[nodiscard]] StreamView stream_of(std::size_t chunk) const { return streams_[chunk % streams_.size()]; }

  /// Submits chunk by chunk: copy in, kernel, copy out.
  void submit_depth_first() {
    for (std::size_t i = 0; i < work_.chunks().size(); ++i) {
      const NvtxRange mark(tracer_, work_.name(i));
      work_.copy_in(i, stream_of(i));
      work_.launch(i, stream_of(i));
      work_.copy_out(i, stream_of(i));
    }
  }

  /// Submits as many chunks together as there are streams: first all copies in, then all kernels, then all copies out.
  void submit_breadth_first() {
    const std::size_t chunks = work_.chunks().size();
    for (std::size_t wave = 0; wave < chunks; wave += streams_.size()) {
      const std::size_t end = std::min(wave + streams_.size(), chunks);
      const NvtxRange mark(tracer_, work_.name(wave));
      for (std::size_t i = wave; i < end; ++i) work_.copy_in(i, stream_of(i));
      for (std::size_t i = wave; i < end; ++i) work_.launch(i, stream_of(i));
      for (std::size_t i = wave; i < end; ++i) work_.copy_out(i, stream_of(i));
    }
  }

  Tracer& tracer_;
  ChunkedWork& work_;
  bool breadth_first_;
  std::vector<Stream> streams_;
  std::size_t distinct_ = 1;
};

/// One stream per engine. Order, by events:
///   a kernel waits for the copy in of its chunk, and a copy out waits for the kernel of its chunk;
///   a copy in waits for the last reader of its slot: the slot's previous kernel or, in place, the previous copy out;
///   a kernel waits for the copy out that last read the same slot (unless in place).
/// The copies of a group of chunks are submitted in one call. A group of one chunk uses a plain copy.
class Engines final : public Pipeline {
 public:
  Engines(Device& device, ChunkedWork& work, const PipelineShape& shape)
      : Pipeline(operations_of(work.shape(), shape)),
        tracer_(device.machine().tracer()),
        work_(work),
        group_(shape.strategy == Strategy::batch ? shape.batch : 1),
        slots_(work.shape().slots == 0 || work.shape().slots >= work.chunks().size() ? 0 : work.shape().slots),
        h2d_(device.make_stream(StreamKind::nonblocking)),
        kernel_(device.make_stream(StreamKind::nonblocking)),
        d2h_(device.make_stream(StreamKind::nonblocking)),
        hand_over_(device.make_event(EventKind::ordering)) {
    for (std::size_t i = 0; i < slots_; ++i) {
      worked_.push_back(device.make_event(EventKind::ordering));
      copied_out_.push_back(device.make_event(EventKind::ordering));
    }
  }

  void submit() override {
    const std::size_t chunks = work_.chunks().size();
    for (std::size_t first = 0; first < chunks; first += group_) submit_group(first, std::min(first + group_, chunks));
  }
  [[nodiscard]] std::vector<StreamView> streams() const override { return {h2d_, kernel_, d2h_}; }

 private:
  void submit_group(std::size_t first, std::size_t end) {
    const NvtxRange mark(tracer_, work_.name(first));
    for (std::size_t i = first; i < end; ++i) wait_for_slot(i, h2d_, work_.shape().in_place ? copied_out_ : worked_);
    copy(first, end, &ChunkedWork::input, h2d_);
    order(h2d_, kernel_);
    for (std::size_t i = first; i < end; ++i) {
      if (!work_.shape().in_place) wait_for_slot(i, kernel_, copied_out_);
      work_.launch(i, kernel_);
      if (slots_ != 0) kernel_.record(worked_[i % slots_]);
    }
    order(kernel_, d2h_);
    copy(first, end, &ChunkedWork::output, d2h_);
    for (std::size_t i = first; slots_ != 0 && i < end; ++i) d2h_.record(copied_out_[i % slots_]);
  }

  using CopyOf = Copy (ChunkedWork::*)(std::size_t) const;
  void copy(std::size_t first, std::size_t end, CopyOf copy_of, StreamView stream) {
    if (end - first == 1) return stream.copy((work_.*copy_of)(first));
    std::vector<Copy> copies;
    for (std::size_t i = first; i < end; ++i) copies.push_back((work_.*copy_of)(i));
    stream.copy_batch(copies);
  }

  /// Makes later work in `second` wait for the work submitted to `first` so far. The event may be recorded again at
  /// once, because a wait refers to the latest record before the wait.
  void order(StreamView first, StreamView second) {
    first.record(hand_over_);
    second.wait(hand_over_);
  }

  void wait_for_slot(std::size_t chunk, StreamView stream, const std::vector<Event>& left) {
    if (slots_ != 0 && chunk >= slots_) stream.wait(left[chunk % slots_]);
  }

  Tracer& tracer_;
  ChunkedWork& work_;
  std::size_t group_;
  std::size_t slots_;  // 0: each chunk has its own buffer
  Stream h2d_;
  Stream kernel_;
  Stream d2h_;
  Event hand_over_;
  std::vector<Event> worked_;      // per slot: the last kernel that used the slot has ended
  std::vector<Event> copied_out_;  // per slot: the last output in the slot has been copied to the host
};

/// Decorator: captures another pipeline as a CUDA graph. One call submits a whole pass, so the driver knows all
/// operations of the pass in advance.
class Replayed final : public Pipeline {
 public:
  Replayed(Device& device, std::unique_ptr<Pipeline> captured)
      : Pipeline(1),
        device_(device),
        captured_(std::move(captured)),
        root_(device.make_stream(StreamKind::nonblocking)),
        graph_(root_.capture([this] { submit_forked(); })) {}

  void submit() override { root_.replay(graph_); }
  [[nodiscard]] std::vector<StreamView> streams() const override { return {root_}; }

 private:
  /// A stream joins the capture by waiting for an event of root_. At the end, root_ must wait for all joined streams.
  void submit_forked() {
    const Event event = device_.make_event(EventKind::ordering);
    root_.record(event);
    for (const StreamView stream : captured_->streams()) stream.wait(event);
    captured_->submit();
    for (const StreamView stream : captured_->streams()) {
      stream.record(event);
      root_.wait(event);
    }
  }

  Device& device_;
  std::unique_ptr<Pipeline> captured_;
  Stream root_;
  Graph graph_;
};

/// Decorator: writes a GPU time stamp to `slot` before each pass of `pipeline`. The first stream of the pipeline writes
/// the stamp, because passes start in that stream.
class Stamped final : public Pipeline {
 public:
  Stamped(std::unique_ptr<Pipeline> pipeline, std::uint64_t* slot)
      : Pipeline(pipeline->operations() + 1), pipeline_(std::move(pipeline)), slot_(slot) {}

  void submit() override {
    pipeline_->streams().front().stamp(slot_);
    pipeline_->submit();
  }
  [[nodiscard]] std::vector<StreamView> streams() const override { return pipeline_->streams(); }
  [[nodiscard]] bool gateable() const override { return pipeline_->gateable(); }

 private:
  std::unique_ptr<Pipeline> pipeline_;
  std::uint64_t* slot_;
};

}  // namespace

bool fits_gate(const ChunkedWork::Shape& work, const PipelineShape& shape) {
  return shape.strategy != Strategy::serial && RegionTimer::fits_gate(operations_of(work, shape), streams_of(shape));
}

unsigned most_behind_gate(const ChunkedWork::Shape& work, const PipelineShape& shape) {
  return RegionTimer::most_behind_gate(operations_of(work, shape), streams_of(shape));
}

const StrategyWord& strategy_word(std::string_view word) {
  const auto found = std::ranges::find(kStrategyWords, word, &StrategyWord::word);
  if (found == kStrategyWords.end()) throw std::logic_error("there is no strategy " + std::string(word));
  return *found;
}

std::unique_ptr<Pipeline> make_stamped_pipeline(Device& device, ChunkedWork& work, const PipelineShape& shape,
                                                std::uint64_t* slot) {
  PipelineShape plain = shape;
  plain.graph = false;
  auto stamped = std::make_unique<Stamped>(make_pipeline(device, work, plain), slot);
  if (!shape.graph) return stamped;
  return std::make_unique<Replayed>(device, std::move(stamped));
}

std::unique_ptr<Pipeline> make_pipeline(Device& device, ChunkedWork& work, const PipelineShape& shape,
                                        std::span<Device* const> helpers) {
  if (shape.graph) {
    PipelineShape captured = shape;
    captured.graph = false;
    return std::make_unique<Replayed>(device, make_pipeline(device, work, captured));
  }
  switch (shape.strategy) {
    case Strategy::serial: return serial(device, work, operations_of(work.shape(), shape));
    case Strategy::streams: return std::make_unique<RoundRobin>(device, work, shape);
    case Strategy::engines:
    case Strategy::double_buffer:
    case Strategy::batch: return std::make_unique<Engines>(device, work, shape);
    case Strategy::multipath: return std::make_unique<PeerRelay>(device, work, shape, helpers);
    case Strategy::zero_copy: break;
  }
  return zero_copy(device, work, operations_of(work.shape(), shape), shape.blocks);
}

Region region_of(Pipeline& pipeline, std::string name) {
  return {.name = std::move(name),
          .clock = pipeline.gateable() ? Clock::event_gated : Clock::event,
          .streams = pipeline.streams(),
          .submit = [&pipeline] { pipeline.submit(); },
          .operations = pipeline.operations(),
          .waits = !pipeline.gateable()};
}

Region checked_region_of(Pipeline& pipeline, const ChunkedWork& work, std::string name) {
  Region r = region_of(pipeline, std::move(name));
  r.check = [&work] { work.check("its output"); };
  return r;
}

void verify(Machine& machine, ChunkedWork& work, Pipeline& pipeline, VerifiedRun run) {
  run(machine, region_of(pipeline, "pipeline"), [&] {
    work.poison_all();
    pipeline.poison();
  });
  work.check_chunked(run == run_at_full_speed ? "pipeline at full speed" : "pipeline");
}

}  // namespace xferbench

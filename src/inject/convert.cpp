#include "inject/convert.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "inject/stacks.hpp"

namespace xferbench::inject {

using namespace recording;

// The CUPTI record types used here are the oldest that have the necessary fields (CUDA 12.4 or older). Newer versions
// only append fields.

namespace {

/// CUPTI's record layouts since CUDA 12.8, which older headers lack. They contain an ID that connects a wait for an
/// event with the cudaEventRecord() that it waits for.
struct LinkedSynchronization {
  CUpti_ActivitySynchronization before;
  std::uint64_t cudaEventSyncId;
};
struct LinkedEvent {
  CUpti_ActivityCudaEvent before;
  std::uint32_t deviceId;
  std::uint32_t pad2;
  void* reserved0;
  std::uint64_t deviceTimestamp;
  std::uint64_t cudaEventSyncId;
};
#if CUPTI_API_VERSION >= 26
static_assert(offsetof(LinkedSynchronization, cudaEventSyncId) ==
              offsetof(CUpti_ActivitySynchronization2, cudaEventSyncId));
static_assert(offsetof(LinkedEvent, cudaEventSyncId) == offsetof(CUpti_ActivityCudaEvent2, cudaEventSyncId));
#endif

CopyKind kind_of(std::uint8_t copy) {
  switch (copy) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return CopyKind::h2d;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return CopyKind::d2h;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA: return CopyKind::d2d;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return CopyKind::p2p;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return CopyKind::h2h;
    default: return CopyKind::other;
  }
}

Memory memory_of(std::uint8_t memory) {
  switch (memory) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return Memory::pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return Memory::pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC: return Memory::device;
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY: return Memory::array;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC: return Memory::managed;
    default: return Memory::unknown;
  }
}

Channel channel_of(CUpti_ChannelType type) {
  switch (type) {
    case CUPTI_CHANNEL_TYPE_COMPUTE: return Channel::compute;
    case CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY: return Channel::copy_engine;
    case CUPTI_CHANNEL_TYPE_INVALID: return Channel::unknown;
    default: return Channel::other;
  }
}

template <class Cupti>
OnDevice on_device(const Cupti& r) {
  return {.begin = r.start,
          .end = r.end,
          .correlation = r.correlationId,
          .device = r.deviceId,
          .context = r.contextId,
          .stream = r.streamId,
          .graph_node = r.graphNodeId};
}

template <class Cupti>
Copy copy_of(const Cupti& r) {
  return {.on = on_device(r),
          .bytes = r.bytes,
          .kind = kind_of(r.copyKind),
          .source = memory_of(r.srcKind),
          .destination = memory_of(r.dstKind),
          .channel = channel_of(r.channelType),
          .channel_id = r.channelID,
          .asynchronous = (r.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0 ? 1U : 0U};
}

/// The UUID in the format of nvidia-smi, for example "GPU-01234567-..."; a MIG instance has one of its own.
std::string uuid_of(const CUpti_ActivityDevice4& device) {
  constexpr std::array kDashesBefore{4, 6, 8, 10};
  const CUuuid& uuid = device.isMigEnabled != 0 ? device.migUuid : device.uuid;
  std::string text = device.isMigEnabled != 0 ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    for (const int dash : kDashesBefore) {
      if (i == dash) text += '-';
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

// --- Records by kind ------------------------------------------------------------------------------------------------

void add(const CUpti_ActivityMemcpy5& r, const Conversion& with) { with.to.add(Type::copy, r.start, copy_of(r)); }

void add(const CUpti_ActivityMemcpyPtoP4& r, const Conversion& with) {
  Copy copy = copy_of(r);
  copy.kind = CopyKind::p2p;
  copy.on.device = r.srcDeviceId;
  copy.peer = r.dstDeviceId;
  with.to.add(Type::copy, r.start, copy);
}

void add(const CUpti_ActivityKernel9& r, const Conversion& with) {
  if (!with.to.wanted().has(r.start)) return;  // filter by time here, before the costly demangling of the name
  const auto product = [](std::int32_t x, std::int32_t y, std::int32_t z) {
    return static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y) * static_cast<std::uint32_t>(z);
  };
  with.to.add(Type::kernel, r.start,
              Kernel{.on = on_device(r),
                     .name = with.names.kernel(r.name),
                     .grid = product(r.gridX, r.gridY, r.gridZ),
                     .block = product(r.blockX, r.blockY, r.blockZ)});
}

void add(const CUpti_ActivityMemset4& r, const Conversion& with) {
  with.to.add(Type::fill, r.start, Fill{.on = on_device(r), .bytes = r.bytes});
}

/// Returns the ID that connects a wait with the record of its event; 0 if CUPTI is older than CUDA 12.8. `Tied` is the
/// record layout that contains this ID.
template <class Tied, class Cupti>
std::uint64_t tie_of(const Cupti& record, const Conversion& with) {
  const void* const tied = &record;
  return with.api.links_waits_to_events() ? static_cast<const Tied*>(tied)->cudaEventSyncId : 0;
}

SyncKind kind_of(CUpti_ActivitySynchronizationType type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE: return SyncKind::event;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT: return SyncKind::stream_wait_event;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE: return SyncKind::stream;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE: return SyncKind::context;
    default: return SyncKind::unknown;
  }
}

void add(const CUpti_ActivitySynchronization& r, const Conversion& with) {
  with.to.add(Type::synchronization, r.start,
              Synchronization{.begin = r.start,
                              .end = r.end,
                              .correlation = r.correlationId,
                              .context = r.contextId,
                              .stream = r.streamId,
                              .kind = kind_of(r.type),
                              .event = r.cudaEventId,
                              .event_record = tie_of<LinkedSynchronization>(r, with)});
}

/// Event records are added regardless of the requested time, because they have no host time and are small.
void add(const CUpti_ActivityCudaEvent& r, const Conversion& with) {
  with.to.add(Type::event, Event{.correlation = r.correlationId,
                                 .context = r.contextId,
                                 .stream = r.streamId,
                                 .event = r.eventId,
                                 .record = tie_of<LinkedEvent>(r, with)});
}

StreamFlag flag_of(CUpti_ActivityStreamFlag flag) {
  switch (flag) {
    case CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT: return StreamFlag::blocking;
    case CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING: return StreamFlag::non_blocking;
    case CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL: return StreamFlag::legacy;
    default: return StreamFlag::unknown;
  }
}

void add(const CUpti_ActivityStream& r, const Conversion& with) {
  with.to.add(Type::stream, Stream{.context = r.contextId, .stream = r.streamId, .flag = flag_of(r.flag)});
}

void add(const CUpti_ActivityContext& r, const Conversion& with) {
  with.to.add(
      Type::stream,
      Stream{.context = r.contextId, .stream = r.nullStreamId, .flag = StreamFlag::legacy, .device = r.deviceId});
}

void add(const CUpti_ActivityDevice4& r, const Conversion& with) {
  RecordingWriter& writer = with.to.writer();
  const NameId name = r.name == nullptr ? 0 : writer.name(r.name);
  with.to.add(
      Type::device,
      Device{.id = r.id, .name = name, .uuid = writer.name(uuid_of(r)), .multiprocessors = r.numMultiprocessors});
}

void add(const CUpti_ActivityAPI& r, const Conversion& with) {
  if (r.start == 0 || r.end < r.start || !with.to.wanted().has(r.start)) return;
  const auto domain = r.kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
  const std::string_view name = with.names.call(domain, r.cbid);
  if (name.empty()) return;
  with.to.add(Type::call, r.start,
              Call{.begin = r.start,
                   .end = r.end,
                   .name = with.to.writer().name(name),
                   .thread = r.threadId,
                   .correlation = r.correlationId,
                   .result = static_cast<std::int32_t>(r.returnValue),
                   .stack = written_stack(r.correlationId, with.to.writer())});
}

/// Only transfers are enabled (Activities::watch_managed_memory).
void add(const CUpti_ActivityUnifiedMemoryCounter2& r, const Conversion& with) {
  const bool in = r.counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
  if (r.end < r.start) return;
  with.to.add(Type::migration, r.start,
              Migration{.begin = r.start,
                        .end = r.end,
                        .bytes = r.value,
                        .device = in ? r.dstId : r.srcId,
                        .kind = in ? CopyKind::h2d : CopyKind::d2h});
}

}  // namespace

void convert(const CUpti_Activity& record, const Conversion& with) {
  const void* r = &record;
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: return add(*static_cast<const CUpti_ActivityMemcpy5*>(r), with);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return add(*static_cast<const CUpti_ActivityMemcpyPtoP4*>(r), with);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return add(*static_cast<const CUpti_ActivityKernel9*>(r), with);
    case CUPTI_ACTIVITY_KIND_MEMSET: return add(*static_cast<const CUpti_ActivityMemset4*>(r), with);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return add(*static_cast<const CUpti_ActivitySynchronization*>(r), with);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: return add(*static_cast<const CUpti_ActivityCudaEvent*>(r), with);
    case CUPTI_ACTIVITY_KIND_STREAM: return add(*static_cast<const CUpti_ActivityStream*>(r), with);
    case CUPTI_ACTIVITY_KIND_CONTEXT: return add(*static_cast<const CUpti_ActivityContext*>(r), with);
    case CUPTI_ACTIVITY_KIND_DEVICE: return add(*static_cast<const CUpti_ActivityDevice4*>(r), with);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return add(*static_cast<const CUpti_ActivityAPI*>(r), with);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return add(*static_cast<const CUpti_ActivityUnifiedMemoryCounter2*>(r), with);
    default: return;
  }
}

}  // namespace xferbench::inject

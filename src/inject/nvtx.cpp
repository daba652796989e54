#include "inject/nvtx.hpp"

#include <pthread.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "inject/usage.hpp"
#include "recording/signal_guard.hpp"

namespace xferbench::inject {

using recording::Range;
using recording::Time;
using recording::Type;

namespace {

struct Open {
  Time begin = 0;
  std::string name;
  std::string domain;
  std::uint32_t thread = 0;
};

/// The handles that NVTX returns to the program are addresses of Domain and Text objects, which are never freed.
struct Domain {
  std::string name;
};
struct Text {
  std::string text;
};

/// State of all NVTX ranges. It is a singleton because NVTX callbacks carry no context, and never destroyed because
/// threads may outlive static destruction.
struct Ranges {
  std::mutex mutex;
  std::map<std::pair<std::uint32_t, const Domain*>, std::vector<Open>> pushed;  // keyed by thread and domain
  std::map<nvtxRangeId_t, Open> started;
  nvtxRangeId_t last_started = 0;
  std::set<const Domain*> domains;
  std::set<const Text*> texts;
};

Ranges& ranges() {
  static auto* const all = new Ranges;  // NOLINT(cppcoreguidelines-owning-memory): never destroyed
  return *all;
}

// --- Strings --------------------------------------------------------------------------------------------------------

/// Appends a character as UTF-8. On Linux, wchar_t holds a Unicode code point.
void append(std::string& text, wchar_t wide) {
  const auto c = static_cast<std::uint32_t>(wide);
  const auto add = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto tail = [&add, c](unsigned shift) { add(0x80U | ((c >> shift) & 0x3FU)); };
  if (c < 0x80U) return add(c);
  if (c < 0x800U) {
    add(0xC0U | (c >> 6U));
    return tail(0);
  }
  if (c < 0x10000U) {
    add(0xE0U | (c >> 12U));
  } else {
    add(0xF0U | ((c >> 18U) & 7U));
    tail(12);
  }
  tail(6);
  tail(0);
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }
std::string text_of(const wchar_t* wide) {
  std::string text;
  for (; wide != nullptr && *wide != 0; ++wide) append(text, *wide);
  return text;
}

std::string message_of(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return {};
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return text_of(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE: return text_of(attributes->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto* const text = reinterpret_cast<const Text*>(attributes->message.registered);
      return ranges().texts.contains(text) ? text->text : std::string();
    }
    default: return {};
  }
}

// --- Ranges ---------------------------------------------------------------------------------------------------------

/// Returns whether the range has the name that the recording request selects. The NVTX domain does not matter.
bool is_asked_for(const Recorder& recorder, const Open& open) { return recorder.request().range == open.name; }

Open begin(Recorder& recorder, const Domain* domain, std::string name) {
  const bool known = ranges().domains.contains(domain);
  if (recorder.request().range == name && recorder.wanted().awaits_range()) sample_process(recorder);
  Open open{.begin = now(), .name = std::move(name), .domain = known ? domain->name : "", .thread = this_thread()};
  if (is_asked_for(recorder, open)) recorder.wanted().open(open.begin);
  return open;
}

void write(Recorder& recorder, const Open& open, Time end, bool of_process) {
  RecordingWriter& writer = recorder.writer();
  const Range range{.begin = open.begin,
                    .end = end,
                    .name = writer.name(open.name),
                    .domain = writer.name(open.domain),
                    .thread = open.thread,
                    .of_process = of_process ? 1U : 0U};
  recorder.add(Type::range, open.begin, range);
}

void end(Recorder& recorder, const Open& open, bool of_process) {
  write(recorder, open, now(), of_process);
  if (is_asked_for(recorder, open)) sample_process(recorder);
  recorder.flush_if_due();
}

int push(Recorder& recorder, const Domain* domain, std::string name) {
  std::vector<Open>& pushed = ranges().pushed[{this_thread(), domain}];
  pushed.push_back(begin(recorder, domain, std::move(name)));
  return static_cast<int>(pushed.size()) - 1;
}

int pop(Recorder& recorder, const Domain* domain) {
  auto& all = ranges().pushed;
  const auto pushed = all.find({this_thread(), domain});
  if (pushed == all.end()) return NVTX_NO_PUSH_POP_TRACKING;
  end(recorder, pushed->second.back(), false);
  pushed->second.pop_back();
  const int level = static_cast<int>(pushed->second.size());
  if (level == 0) all.erase(pushed);  // remove the empty entry, because the thread may end
  return level;
}

nvtxRangeId_t start(Recorder& recorder, const Domain* domain, std::string name) {
  const nvtxRangeId_t id = ++ranges().last_started;
  ranges().started.emplace(id, begin(recorder, domain, std::move(name)));
  return id;
}

void finish(Recorder& recorder, nvtxRangeId_t id) {
  const auto found = ranges().started.find(id);
  if (found == ranges().started.end()) return;
  end(recorder, found->second, true);
  ranges().started.erase(found);
}

// --- NVTX callbacks -------------------------------------------------------------------------------------------------

/// Runs `action` while holding the lock on the ranges. Returns a default value if memory is exhausted, and in a forked
/// child, where the lock may have been copied in the locked state.
template <class Action>
auto safely(Action action) noexcept -> decltype(action(std::declval<Recorder&>())) {
  using Answer = decltype(action(std::declval<Recorder&>()));
  const SignalGuard guard;
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr) return Answer();
  try {
    const std::lock_guard lock(ranges().mutex);
    return action(*recorder);
  } catch (const std::exception&) {
    return Answer();
  }
}

const Domain* domain_of(nvtxDomainHandle_t handle) { return reinterpret_cast<const Domain*>(handle); }

template <class Character>
int NVTX_API push_text(const Character* name) {
  return safely([&](Recorder& r) { return push(r, nullptr, text_of(name)); });
}
int NVTX_API push_event(const nvtxEventAttributes_t* event) {
  return safely([&](Recorder& r) { return push(r, nullptr, message_of(event)); });
}
int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return safely([&](Recorder& r) { return push(r, domain_of(domain), message_of(event)); });
}
int NVTX_API pop_default() {
  return safely([](Recorder& r) { return pop(r, nullptr); });
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) {
  return safely([&](Recorder& r) { return pop(r, domain_of(domain)); });
}

template <class Character>
nvtxRangeId_t NVTX_API start_text(const Character* name) {
  return safely([&](Recorder& r) { return start(r, nullptr, text_of(name)); });
}
nvtxRangeId_t NVTX_API start_event(const nvtxEventAttributes_t* event) {
  return safely([&](Recorder& r) { return start(r, nullptr, message_of(event)); });
}
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return safely([&](Recorder& r) { return start(r, domain_of(domain), message_of(event)); });
}
void NVTX_API end_default(nvtxRangeId_t id) {
  safely([&](Recorder& r) { finish(r, id); });
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end_default(id); }

template <class Character>
nvtxDomainHandle_t NVTX_API create_domain(const Character* name) {
  return safely([&](Recorder&) {
    auto made = std::make_unique<Domain>(Domain{text_of(name)});
    ranges().domains.insert(made.get());
    return reinterpret_cast<nvtxDomainHandle_t>(made.release());  // an opaque handle for the program
  });
}

template <class Character>
nvtxStringHandle_t NVTX_API register_text(nvtxDomainHandle_t, const Character* text) {
  return safely([&](Recorder&) {
    auto made = std::make_unique<Text>(Text{text_of(text)});
    ranges().texts.insert(made.get());
    return reinterpret_cast<nvtxStringHandle_t>(made.release());  // an opaque handle for the program
  });
}

// --- Installing the callbacks ---------------------------------------------------------------------------------------

class Table {
 public:
  Table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) size_ = 0;
  }
  template <class Function>
  void set(unsigned which, Function* function) const {
    if (which < size_ && table_[which] != nullptr) *table_[which] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

/// Called in a forked child, which keeps the parent's domains and strings but not its open ranges.
void begin_child() {
  ranges().pushed.clear();
  ranges().started.clear();
  ranges().mutex.unlock();
}

}  // namespace

bool attach_nvtx(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return false;
  static std::once_flag once;
  std::call_once(once,
                 [] { pthread_atfork([] { ranges().mutex.lock(); }, [] { ranges().mutex.unlock(); }, &begin_child); });
  const Table core(*callbacks, NVTX_CB_MODULE_CORE);
  core.set(NVTX_CBID_CORE_RangePushA, &push_text<char>);
  core.set(NVTX_CBID_CORE_RangePushW, &push_text<wchar_t>);
  core.set(NVTX_CBID_CORE_RangePushEx, &push_event);
  core.set(NVTX_CBID_CORE_RangePop, &pop_default);
  core.set(NVTX_CBID_CORE_RangeStartA, &start_text<char>);
  core.set(NVTX_CBID_CORE_RangeStartW, &start_text<wchar_t>);
  core.set(NVTX_CBID_CORE_RangeStartEx, &start_event);
  core.set(NVTX_CBID_CORE_RangeEnd, &end_default);
  const Table domains(*callbacks, NVTX_CB_MODULE_CORE2);
  domains.set(NVTX_CBID_CORE2_DomainRangePushEx, &domain_push);
  domains.set(NVTX_CBID_CORE2_DomainRangePop, &domain_pop);
  domains.set(NVTX_CBID_CORE2_DomainRangeStartEx, &domain_start);
  domains.set(NVTX_CBID_CORE2_DomainRangeEnd, &domain_end);
  domains.set(NVTX_CBID_CORE2_DomainCreateA, &create_domain<char>);
  domains.set(NVTX_CBID_CORE2_DomainCreateW, &create_domain<wchar_t>);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringA, &register_text<char>);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringW, &register_text<wchar_t>);
  return true;
}

void write_open_ranges(Recorder& recorder) {
  Ranges& all = ranges();
  const std::lock_guard lock(all.mutex);
  for (const auto& [where, pushed] : all.pushed) {
    for (const Open& open : pushed) write(recorder, open, 0, false);
  }
  for (const auto& [id, open] : all.started) write(recorder, open, 0, true);
}

}  // namespace xferbench::inject

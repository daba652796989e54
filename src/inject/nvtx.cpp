#include "inject/nvtx.hpp"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace xferbench::inject {

using recording::Range;
using recording::Time;
using recording::Type;

namespace {

/// A range that has begun.
struct Open {
  Time begin = 0;
  std::string name;
  std::string domain;
  std::uint32_t thread = 0;
};

/// Handles are addresses of these, and stay as long as the process.
struct Domain {
  std::string name;
};
struct Text {
  std::string text;
};

/// NVTX calls back without any context; never destroyed, as threads may outlive everything else.
struct Ranges {
  std::mutex mutex;
  std::map<std::pair<std::uint32_t, const Domain*>, std::vector<Open>> pushed;  // of each thread, by domain
  std::map<nvtxRangeId_t, Open> started;
  nvtxRangeId_t last_started = 0;
  std::set<const Domain*> domains;
  std::set<const Text*> texts;
};

Ranges& ranges() {
  static auto* const all = new Ranges;  // NOLINT(cppcoreguidelines-owning-memory): see above
  return *all;
}

// --- Texts ----------------------------------------------------------------------------------------------------------

/// A character as UTF-8; wide ones are those of Unicode here.
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
      const std::lock_guard lock(ranges().mutex);
      return ranges().texts.contains(text) ? text->text : std::string();
    }
    default: return {};
  }
}

// --- Ranges ---------------------------------------------------------------------------------------------------------

/// Ranges of that name, in whatever domain, are what is to be recorded.
bool is_asked_for(const Recorder& recorder, const Open& open) { return recorder.request().range == open.name; }

Open begin(Recorder& recorder, const Domain* domain, std::string name) {
  const bool known = ranges().domains.contains(domain);
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
  const Time time = now();
  write(recorder, open, time, of_process);
  if (!is_asked_for(recorder, open)) return;
  recorder.wanted().close(time);
  recorder.writer().flush();
}

int push(const Domain* domain, std::string name) noexcept {
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr) return 0;
  try {
    Ranges& all = ranges();
    const std::lock_guard lock(all.mutex);
    std::vector<Open>& pushed = all.pushed[{this_thread(), domain}];
    pushed.push_back(begin(*recorder, domain, std::move(name)));
    return static_cast<int>(pushed.size()) - 1;
  } catch (const std::exception&) {  // out of memory: the range is not recorded
    return 0;
  }
}

int pop(const Domain* domain) noexcept {
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr) return 0;
  try {
    Ranges& all = ranges();
    const std::lock_guard lock(all.mutex);
    std::vector<Open>& pushed = all.pushed[{this_thread(), domain}];
    if (pushed.empty()) return NVTX_NO_PUSH_POP_TRACKING;
    end(*recorder, pushed.back(), false);
    pushed.pop_back();
    return static_cast<int>(pushed.size());
  } catch (const std::exception&) {
    return 0;
  }
}

nvtxRangeId_t start(const Domain* domain, std::string name) noexcept {
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr) return 0;
  try {
    Ranges& all = ranges();
    const std::lock_guard lock(all.mutex);
    all.started[++all.last_started] = begin(*recorder, domain, std::move(name));
    return all.last_started;
  } catch (const std::exception&) {
    return 0;
  }
}

void finish(nvtxRangeId_t id) noexcept {
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr) return;
  Ranges& all = ranges();
  const std::lock_guard lock(all.mutex);
  const auto found = all.started.find(id);
  if (found == all.started.end()) return;
  end(*recorder, found->second, true);
  all.started.erase(found);
}

// --- What NVTX calls ------------------------------------------------------------------------------------------------

const Domain* domain_of(nvtxDomainHandle_t handle) { return reinterpret_cast<const Domain*>(handle); }

int NVTX_API push_a(const char* name) { return push(nullptr, text_of(name)); }
int NVTX_API push_w(const wchar_t* name) { return push(nullptr, text_of(name)); }
int NVTX_API push_ex(const nvtxEventAttributes_t* event) { return push(nullptr, message_of(event)); }
int NVTX_API pop_default() { return pop(nullptr); }
nvtxRangeId_t NVTX_API start_a(const char* name) { return start(nullptr, text_of(name)); }
nvtxRangeId_t NVTX_API start_w(const wchar_t* name) { return start(nullptr, text_of(name)); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* event) { return start(nullptr, message_of(event)); }
void NVTX_API end_default(nvtxRangeId_t id) { finish(id); }

int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push(domain_of(domain), message_of(event));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop(domain_of(domain)); }
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return start(domain_of(domain), message_of(event));
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { finish(id); }

template <class Character>
nvtxDomainHandle_t NVTX_API create_domain(const Character* name) {
  const auto* const made = new Domain{text_of(name)};  // NOLINT(cppcoreguidelines-owning-memory): the handle
  const std::lock_guard lock(ranges().mutex);
  ranges().domains.insert(made);
  return reinterpret_cast<nvtxDomainHandle_t>(const_cast<Domain*>(made));  // NOLINT: opaque to the program
}

template <class Character>
nvtxStringHandle_t NVTX_API register_text(nvtxDomainHandle_t, const Character* text) {
  const auto* const made = new Text{text_of(text)};  // NOLINT(cppcoreguidelines-owning-memory): the handle
  const std::lock_guard lock(ranges().mutex);
  ranges().texts.insert(made);
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<Text*>(made));  // NOLINT: opaque to the program
}

// --- Attaching ------------------------------------------------------------------------------------------------------

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

}  // namespace

bool attach_nvtx(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return false;
  const Table core(*callbacks, NVTX_CB_MODULE_CORE);
  core.set(NVTX_CBID_CORE_RangePushA, &push_a);
  core.set(NVTX_CBID_CORE_RangePushW, &push_w);
  core.set(NVTX_CBID_CORE_RangePushEx, &push_ex);
  core.set(NVTX_CBID_CORE_RangePop, &pop_default);
  core.set(NVTX_CBID_CORE_RangeStartA, &start_a);
  core.set(NVTX_CBID_CORE_RangeStartW, &start_w);
  core.set(NVTX_CBID_CORE_RangeStartEx, &start_ex);
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

#include "results/soak_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "results/file_io.hpp"
#include "results/json.hpp"
#include "results/json_codec.hpp"
#include "results/output_file.hpp"
#include "results/replaced_file.hpp"
#include "results/stored_file.hpp"

namespace xferbench {

// --- Lines ----------------------------------------------------------------------------------------------------------

namespace {

using namespace json;
using enum Rule;

constexpr std::string_view kSoakVersion1 = "xferbench-soak/1";

constexpr Codec kShareOfRate = within(kNumber, "a number from 0 to 1", 0, 1);
constexpr const Codec& kSoakLoads = kListOf<SoakLoad, kOneOf<SoakLoad>>;
constexpr const Codec& kAmounts = kListOf<double, kAmount>;
constexpr const Codec& kWholeNumbers = kListOf<std::uint64_t, kWhole<std::uint64_t>>;

constexpr std::array kSoakSettingsFields{
    field<&SoakSettings::seconds>("seconds", "Planned duration of all parts together, in seconds."),
    field<&SoakSettings::interval>("interval", "Interval between two lines, in seconds."),
    field<&SoakSettings::floor, kShareOfRate>(
        "floor", "A rate below this share of the rate in the first minutes counts as a drop."),
    field<&SoakSettings::loads, kSoakLoads>("loads"),
    field<&SoakSettings::size>("size", "Size of one copy, in bytes."),
    field<&SoakSettings::seed>("seed"),
};
constexpr Codec kSoakSettings = record(kSoakSettingsFields);

constexpr std::array kSoakHeaderFields{
    part("schema", kSchema<kSoakVersion1>),
    field<&SoakHeader::started_at, kTime>("started_at"),
    field<&SoakHeader::tool, kToolLine>("tool"),
    field<&SoakHeader::command, kRawTexts>("command"),
    field<&SoakHeader::environment, kEnvironmentLine>("environment"),
    field<&SoakHeader::settings, kSoakSettings>("settings"),
};
constexpr Codec kSoakHeader =
    named("header", on_one_line(expecting(record(kSoakHeaderFields, "The first line."),
                                          "the first line of a file of xferbench soak --json")));

constexpr std::array kSoakWrongFields{
    field<&SoakWrong::gpu>("gpu", "GPU whose load found it; for p2p the receiving GPU."),
    field<&SoakWrong::load>("load"),
    field<&SoakWrong::memory>("memory", "Memory with the wrong data: 'GPU 0' or 'host'."),
    field<&SoakWrong::address>("address", "Address of the first wrong byte."),
    field<&SoakWrong::offset>("offset", "Offset of the first wrong byte in its buffer; of its word if 'found' is '?'."),
    field<&SoakWrong::last>("last", "Offset of the last wrong byte's word."),
    field<&SoakWrong::bytes>("bytes"),
    field<&SoakWrong::bits>("bits"),
    field<&SoakWrong::expected>("expected", "Expected value of the first wrong word, in hexadecimal."),
    field<&SoakWrong::found>(
        "found", "Found value of that word; '?' if many words were wrong, or if it was right when read again."),
    field<&SoakWrong::pattern>("pattern"),
    field<&SoakWrong::elapsed>("elapsed"),
    field<&SoakWrong::at, kTime>("at"),
};
constexpr Codec kSoakWrong = record(kSoakWrongFields, "Wrong data in one buffer, found by one check.");

constexpr std::array kSoakDropFields{
    field<&SoakDrop::gpu>("gpu"),
    field<&SoakDrop::load>("load"),
    field<&SoakDrop::from>("from"),
    field<&SoakDrop::to>("to"),
    field<&SoakDrop::lowest>("lowest"),
    field<&SoakDrop::at, kTime>("at"),
    field<&SoakDrop::beside>("beside", omit_empty, "Other changes in these intervals."),
};
constexpr Codec kSoakDrop = record(kSoakDropFields, "Period in which a load of a GPU was slower than the floor.");

constexpr std::array kSoakRateFields{
    field<&SoakRate::load>("load"),       field<&SoakRate::median>("median"), field<&SoakRate::lowest>("lowest"),
    field<&SoakRate::highest>("highest"), field<&SoakRate::turns>("turns"),
};
constexpr Codec kSoakRate =
    record(kSoakRateFields, "Rates of the passes of a load in one interval, in bytes per second.");

constexpr std::array kSoakClocksFields{
    field<&Clocks::sm>("sm", omit_empty),
    field<&Clocks::memory>("memory", omit_empty),
};
constexpr Codec kSoakClocks = record(kSoakClocksFields, "Clock rates in hertz. Unknown values are absent.");

constexpr std::array kSoakGpuFields{
    field<&SoakGpu::gpu>("gpu"),
    field<&SoakGpu::rates, kListOf<SoakRate, kSoakRate>>("rates"),
    field<&SoakGpu::health, kHealthLine>("health"),
    field<&SoakGpu::clocks, kSoakClocks>("clocks"),
    field<&SoakGpu::changes>("changes", omit_empty, "Changes for the worse in the interval, as sentences."),
};
constexpr Codec kSoakGpu = record(kSoakGpuFields, "State of a GPU at the end of an interval.");

constexpr std::array kSoakLoadTotalsFields{
    field<&SoakLoadTotals::gpu>("gpu"),
    field<&SoakLoadTotals::load>("load"),
    field<&SoakLoadTotals::moved>("moved"),
    field<&SoakLoadTotals::verified>("verified", "Bytes of these that were verified."),
    field<&SoakLoadTotals::busy>("busy", "Seconds spent moving them."),
    field<&SoakLoadTotals::wrong>("wrong", optional, "Bytes of these that were wrong."),
    field<&SoakLoadTotals::first, kAmounts>("first", optional, "Median rates of the intervals in the first minutes."),
    field<&SoakLoadTotals::baseline>("baseline", omit_empty, "Median of these rates, after the first minutes."),
    field<&SoakLoadTotals::baseline_until>("baseline_until", omit_empty,
                                           "End of the first minutes, in seconds since the start of the soak."),
    field<&SoakLoadTotals::lowest>("lowest", omit_empty, "Lowest rate of a pass after the first minutes."),
};
constexpr Codec kSoakLoadTotals = record(kSoakLoadTotalsFields);

constexpr std::array kSoakCountersFields{
    field<&SoakCounters::gpu>("gpu"),
    field<&SoakCounters::ecc_corrected>("ecc_corrected", omit_empty),
    field<&SoakCounters::ecc_uncorrected>("ecc_uncorrected", omit_empty),
    field<&SoakCounters::pcie_replays>("pcie_replays", omit_empty),
    field<&SoakCounters::xid_count>("xid_count", omit_empty),
    field<&SoakCounters::xids, kWholeNumbers>("xids", omit_empty),
    field<&SoakCounters::throttle>("throttle", omit_empty),
    field<&SoakCounters::hottest, kNumber>("hottest", omit_empty),
};
constexpr Codec kSoakCounters =
    record(kSoakCountersFields, "Increase of the counters since the start. Unknown values are absent.");

constexpr std::array kSoakTotalsFields{
    field<&SoakTotals::elapsed>("elapsed"),
    field<&SoakTotals::seconds>("seconds", omit_empty, "Planned duration in seconds, if it differs from the header."),
    field<&SoakTotals::loads, kListOf<SoakLoadTotals, kSoakLoadTotals>>("loads"),
    field<&SoakTotals::counters, kListOf<SoakCounters, kSoakCounters>>("counters"),
    field<&SoakTotals::wrong_bytes>("wrong_bytes"),
    field<&SoakTotals::wrong_buffers>("wrong_buffers"),
    field<&SoakTotals::wrong, kListOf<SoakWrong, kSoakWrong, SoakTotals::kMostKept>>("wrong"),
    field<&SoakTotals::drop_count>("drop_count"),
    field<&SoakTotals::drop_seconds>("drop_seconds"),
    field<&SoakTotals::drops, kListOf<SoakDrop, kSoakDrop, SoakTotals::kMostKept>>("drops"),
    field<&SoakTotals::lost_count>("lost_count", omit_empty,
                                   "Number of times that the soak ended because a GPU failed or hung."),
    field<&SoakTotals::lost>("lost", omit_empty),
    field<&SoakTotals::resumed_at, kListOf<std::string, kTimeOrNone>>("resumed_at", omit_empty),
};
constexpr Codec kSoakTotals = record(kSoakTotalsFields, "Totals up to this line.");

constexpr std::array kSoakIntervalFields{
    field<&SoakInterval::at, kTime>("at"),
    field<&SoakInterval::elapsed>("elapsed", "Seconds since the start of the soak."),
    field<&SoakInterval::memory>("memory", "Resident memory of the process, in bytes."),
    field<&SoakInterval::gpus, kListOf<SoakGpu, kSoakGpu>>("gpus"),
    field<&SoakInterval::so_far, kSoakTotals>("so_far"),
    field<&SoakInterval::end>("end"),
    field<&SoakInterval::reason>("reason", omit_empty),
};
constexpr Codec kSoakIntervalLine =
    named("interval", on_one_line(expecting(record(kSoakIntervalFields, "Each further line."),
                                            "a line of a file of xferbench soak --json")));

// --- The file -------------------------------------------------------------------------------------------------------

/// Longest accepted line in bytes; a line for a hundred GPUs is shorter.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw OutputError(fmt::format("cannot write {}: {}", path, why));
}

void lock_for_writing(const std::string& path, const Descriptor& file) {
  if (!file_io::lock(file.number())) {
    cannot_write(path, "another xferbench is writing it; wait until it ends, or name another file");
  }
}

std::string read_part(const std::string& path, const Descriptor& file, std::uint64_t at, std::size_t bytes) {
  std::string text(bytes, '\0');
  if (const int error = file_io::read_at(file.number(), at, text); error != 0) {
    throw InputError(fmt::format("cannot read {}: {}", path, std::strerror(error)));
  }
  return text;
}

struct LastLine {
  std::string text{};
  std::uint64_t end = 0;  ///< offset after its line feed
};
/// Returns the last complete line that begins at offset `first` or later. Reads only the end of a long file.
std::optional<LastLine> last_line(const std::string& path, const Descriptor& file, std::uint64_t first,
                                  std::uint64_t size) {
  const std::uint64_t at = std::max(first, size - std::min<std::uint64_t>(size, kLongestLine));
  const std::string tail = read_part(path, file, at, size - std::min(at, size));
  const std::size_t end = tail.rfind('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::size_t before = tail.rfind('\n', end == 0 ? 0 : end - 1);
  const std::size_t begin = end == 0 || before == std::string::npos ? 0 : before + 1;
  return LastLine{tail.substr(begin, end - begin), at + end + 1};
}

/// Parses a soak's file. `whole` gets the number of bytes in complete lines.
StoredSoak stored_in(const std::string& path, const Descriptor& file, std::uint64_t& whole) {
  struct stat status {};
  if (fstat(file.number(), &status) != 0)
    throw InputError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  const std::string head = read_part(path, file, 0, kLongestLine);
  const std::size_t first = head.find('\n');
  if (first == std::string::npos) {
    throw InputError(fmt::format("{}: found no complete line, expected a file of xferbench soak --json", path));
  }
  StoredSoak stored{.header = parse_soak_header(std::string_view(head).substr(0, first), path)};
  const auto last = last_line(path, file, first + 1, static_cast<std::uint64_t>(status.st_size));
  if (last) stored.last = parse_soak_interval(last->text, path + " (its last line)");
  whole = last ? last->end : first + 1;
  return stored;
}

void cut(const std::string& path, const Descriptor& file, std::uint64_t bytes) {
  if (ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) cannot_write(path, std::strerror(errno));
}

}  // namespace

std::string to_json(const SoakHeader& header) { return text_of(kSoakHeader, &header); }
std::string to_json(const SoakInterval& interval) { return text_of(kSoakIntervalLine, &interval); }

std::string soak_schema() {
  return schema_of(
      {&kSoakHeader, &kSoakIntervalLine},
      "One line of xferbench soak --json, version 1. The file is JSON Lines: each line is a JSON document. Fields are "
      "added within version 1, never renamed. Rates are in bytes per second, times in seconds.");
}

SoakHeader parse_soak_header(std::string_view text, std::string_view name) {
  return record_from_text<SoakHeader>(text, name, kSoakHeader);
}
SoakInterval parse_soak_interval(std::string_view text, std::string_view name) {
  return record_from_text<SoakInterval>(text, name, kSoakIntervalLine);
}

StoredSoak read_soak(const std::string& path) {
  std::uint64_t whole = 0;
  return stored_in(path, open_stored(path), whole);
}

void for_each_interval(const std::string& path, const std::function<void(const SoakInterval&)>& told) {
  const Descriptor file = open_stored(path);
  bool is_header = true;
  std::uint64_t at = 0;  // offset of the next line
  for (;;) {
    const std::string part = read_part(path, file, at, kLongestLine);
    std::size_t begin = 0;
    for (std::size_t end = part.find('\n'); end != std::string::npos; end = part.find('\n', begin)) {
      if (!std::exchange(is_header, false)) {
        told(parse_soak_interval(std::string_view(part).substr(begin, end - begin), path));
      }
      begin = end + 1;
    }
    if (begin == 0) return;  // the rest of the file is an incomplete or too long line
    at += begin;
  }
}

SoakFile SoakFile::create(const std::string& path) {
  if (path == "-" || leads_to_standard_output(path)) return SoakFile("-", Descriptor());
  struct stat status {};
  const bool is_there = stat(path.c_str(), &status) == 0;
  // Keep the existing file, which may hold days of results.
  if (is_there && S_ISREG(status.st_mode) && status.st_size > 0) set_aside(path);
  Descriptor file = file_io::open_to_append(path, O_CREAT);
  if (!file) cannot_write(path, std::strerror(errno));
  if (file_io::is_ordinary(file.number())) lock_for_writing(path, file);
  return SoakFile(path, std::move(file));
}

SoakFile SoakFile::go_on(const std::string& path, StoredSoak& stored) {
  Descriptor file(open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) throw InputError(fmt::format("there is no file {}", path));
  if (!file) cannot_write(path, std::strerror(errno));
  if (!file_io::is_ordinary(file.number()))
    cannot_write(path, "it is not a regular file, as --resume needs; name another file");
  lock_for_writing(path, file);
  SoakFile soak(path, std::move(file));
  stored = stored_in(path, soak.file_, soak.bytes_);
  const std::string head = read_part(path, soak.file_, 0, kLongestLine);
  soak.first_ = head.substr(0, head.find('\n') + 1);
  if (lseek(soak.file_.number(), 0, SEEK_END) != static_cast<off_t>(soak.bytes_)) cut(path, soak.file_, soak.bytes_);
  return soak;
}

void SoakFile::append(const std::string& line) {
  if (is_standard_output()) return write_standard_output(line);
  const int file = file_.number();
  struct stat before {};
  const bool ordinary = fstat(file, &before) == 0 && S_ISREG(before.st_mode);
  if (const int error = file_io::write(file, line); error != 0) {
    // Remove the incomplete line. If this fails, go_on() removes the line when the soak is resumed.
    if (ordinary) static_cast<void>(ftruncate(file, before.st_size));
    cannot_write(path_, std::strerror(error));
  }
  if (first_.empty()) first_ = line;
  bytes_ = static_cast<std::uint64_t>(before.st_size) + line.size();
  if (const int error = ordinary ? file_io::synchronize(file) : 0; error != 0)
    cannot_write(path_, std::strerror(error));
}

std::string SoakFile::restore() {
  struct stat now {};
  if (fstat(file_.number(), &now) != 0 || !S_ISREG(now.st_mode)) return {};
  const auto size = static_cast<std::uint64_t>(now.st_size);
  if (size >= bytes_ && now.st_nlink > 0) return {};
  // Reopen the file by its descriptor, because its path may lead to no file or to another one.
  const Descriptor readable(open(fmt::format("/proc/self/fd/{}", file_.number()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!readable) cannot_write(path_, fmt::format("another program changed it ({})", std::strerror(errno)));
  if (size < bytes_) {
    const auto last = last_line(path_, readable, 0, size);
    cut(path_, file_, bytes_ = last ? last->end : 0);
    if (!last) append(first_);
    return fmt::format("{} was truncated by another program: some of its lines are lost", path_);
  }
  SoakFile again = create(path_);
  again.first_ = first_;
  again.append(read_part(path_, readable, 0, size));
  *this = std::move(again);
  return fmt::format("{} was deleted by another program: all its lines were written again", path_);
}

}  // namespace xferbench

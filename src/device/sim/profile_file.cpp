#include "device/sim/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/spelling.hpp"
#include "device/sim/profile_fields.hpp"
#include "results/calibration.hpp"
#include "results/json_codec.hpp"

namespace xferbench::sim {

namespace {

using namespace json;
using enum Rule;

constexpr std::string_view kProfileVersion1 = "xferbench-profile/1";

/// A named number in the object `set` or `scale` of a profile file.
struct Named {
  std::string name;
  double number = 0;
};
/// Origin of a number in `set`, an entry of the object `sources` of a profile file.
struct Source {
  std::string name;
  double low = 0;
  double high = 0;
  std::string source;
  bool has_interval = false;
};
struct Late {
  double probability = 0;
  double seconds = 0;
};
struct Written {
  std::string base;
  std::string name;
  std::string description;
  std::string gpu_name;
  std::string uuid;
  std::string host;
  std::vector<Named> scale;
  std::vector<Named> set;
  std::vector<Source> sources;
  double noise = 0;
  std::uint64_t seed = 1;
  Late late;
  ModelledRank::Clock clock;
  ModelledRank::Network network;
  std::string inject;
};

// --- Single values --------------------------------------------------------------------------------------------------

/// Names and descriptions are short, because headings and tables show them.
constexpr Codec kShortWord = within(kText, "a text of 1 to 100 characters", 1, kLongestProfileWord);
constexpr Codec kSourceText = within(kText, "a text of 1 to 500 characters", 1, kLongestSource);

std::vector<std::string_view> names_of_profiles() {
  return list_of(profiles(), [](const Profile& p) { return std::string_view(p.name); });
}

constexpr Codec kBase{.expected = "the name of a built-in profile",
                      .take =
                          [](Reader& in, void* into) {
                            const std::vector<std::string_view> names = names_of_profiles();
                            as<std::string>(into) = names[in.as_one_of(names)];
                          },
                      .give = give_as<std::string>,
                      .words = names_of_profiles};

constexpr Codec kFault{.expected = "a text, such as \"die:launch:5\"",
                       .take =
                           [](Reader& in, void* into) {
                             take_text(in, into);
                             try {
                               static_cast<void>(parse_fault(as<std::string>(into)));
                             } catch (const UsageError& error) {
                               in.fail(fmt::format("found {}", error.what()));
                             }
                           },
                       .give = give_as<std::string>,
                       .types = {"string"},
                       .most = kLongestProfileWord};

constexpr double kMostAmount = 1e18;
constexpr Codec kAnyAmount = within(kNumber, "a number from -1e18 to 1e18", -kMostAmount, kMostAmount);
constexpr Codec kDeviation = within(kNumber, "a number from 0 to 0.5", 0, 0.5);
constexpr Codec kShareOfAll = within(kNumber, "a number from 0 to 1", 0, 1);
constexpr Codec kOffset = within(kNumber, "seconds from -1e6 to 1e6", -1e6, 1e6);
constexpr Codec kDrift = within(kNumber, "a number from -0.01 to 0.01", -0.01, 0.01);
constexpr Codec kDelay = within(kNumber, "seconds from 0 to 10", 0, 10);
constexpr Codec kBandwidth = within(kNumber, "bytes per second from 1e3 to 1e18", 1e3, kMostAmount);

// --- Named numbers --------------------------------------------------------------------------------------------------

/// Codec of an object with known names only: `require` refuses unknown names, `known_names` lists all for the schema.
template <const Codec& entries, void (*require)(Reader&, std::string_view), std::vector<Known> (*known_names)()>
constexpr Codec kOfKnownNames{.expected = entries.expected,
                              .is_object = true,
                              .strict = true,
                              .entry =
                                  [](Reader& in, void* all, std::string_view name) {
                                    require(in, name);
                                    return entries.entry(in, all, name);
                                  },
                              .end = entries.end,
                              .each = entries.each,
                              .known = known_names};

Single number_given(const void* named) { return as<Named>(named).number; }

constexpr Codec kFactor{.expected = "a number from 0.001 to 1000",
                        .take = [](Reader& in, void* named) { take_number(in, &as<Named>(named).number); },
                        .give = number_given,
                        .types = {"number"},
                        .least = 0.001,
                        .most = 1000};
constexpr const Codec& kFactors = kEntriesOf<Named, &Named::name, kFactor>;

void require_part(Reader& in, std::string_view name) {
  const auto known = texts_of(Part{});
  if (!has_item(known, name)) in.refuse_unknown("unknown part", name, known);
}
std::vector<Known> known_parts() {
  return list_of(texts_of(Part{}), [](std::string_view part) { return Known{part, kFactor}; });
}
constexpr Codec kScale = kOfKnownNames<kFactors, require_part, known_parts>;

constexpr Codec kFieldNumber{
    .expected = "a number",
    .take =
        [](Reader& in, void* into) {
          auto& setting = as<Named>(into);
          const Quantity& q = *find_profile_field(setting.name)->quantity;
          setting.number = in.as_number();
          const bool is_kind = in.is_whole() || !q.whole;
          if (is_kind && setting.number >= q.least && setting.number <= q.most) return;
          in.fail(fmt::format("found the number {}, expected {} from {} to {} ({})", setting.number,
                              q.whole ? "a whole number" : "one", q.least, q.most, q.unit));
        },
    .give = number_given};
constexpr const Codec& kFieldNumbers = kEntriesOf<Named, &Named::name, kFieldNumber>;

/// Reports an unknown field. The message suggests similar names, because there are too many fields to list.
void require_field(Reader& in, std::string_view name) {
  if (find_profile_field(name) != nullptr) return;
  const auto known = list_of(profile_fields(), [](const ProfileField& f) { return std::string(f.name); });
  in.fail(fmt::format("unknown field {}{}; docs/profile-schema.json lists all fields", in_quotes(name),
                      suggestion(name.substr(0, kLongestProfileWord), known)));
}

std::vector<Known> known_numbers() {
  std::vector<Known> known;
  for (const auto& [name, quantity, parts, get, set] : profile_fields()) {
    Codec shape = within(kNumber, {}, quantity->least, quantity->most);
    shape.help = quantity->unit;
    if (quantity->whole) shape.types = {"integer"};
    known.push_back({name, shape});
  }
  return known;
}
constexpr Codec kSet = kOfKnownNames<kFieldNumbers, require_field, known_numbers>;

constexpr std::array kSourceFields{
    field<&Source::low, kAnyAmount>("low", optional),
    field<&Source::high, kAnyAmount>("high", optional),
    field<&Source::source, kSourceText>("source"),
};
void check_interval(Reader& in, void* source) {
  as<Source>(source).has_interval = in.has("low");
  if (in.has("low") == in.has("high")) return;
  in.fail(fmt::format("has only '{}'; give both low and high, or neither", in.has("low") ? "low" : "high"));
}
constexpr Codec kSource = named("source", strict(record(kSourceFields, {}, check_interval)));
constexpr const Codec& kAnySources = kEntriesOf<Source, &Source::name, kSource>;

std::vector<Known> known_sources() {
  return list_of(profile_fields(), [](const ProfileField& field) { return Known{field.name, kSource}; });
}
constexpr Codec kSources = kOfKnownNames<kAnySources, require_field, known_sources>;

// --- Records --------------------------------------------------------------------------------------------------------

constexpr std::array kLateFields{
    field<&Late::probability, kShareOfAll>("probability"),
    field<&Late::seconds, kDelay>("seconds"),
};
constexpr Codec kLate = strict(record(kLateFields));

using Clock = ModelledRank::Clock;
constexpr std::array kClockFields{
    field<&Clock::offset, kOffset>("offset", optional, "Seconds."),
    field<&Clock::drift, kDrift>("drift", optional),
};
constexpr Codec kClockCodec = strict(record(kClockFields));

using Way = ModelledRank::Way;
constexpr std::array kWayFields{
    field<&Way::latency, kDelay>("latency", "Latency of the smallest message, in seconds."),
    field<&Way::bandwidth, kBandwidth>("bandwidth", "Bytes per second that a rank can send, and can receive."),
};
constexpr Codec kWay = named("way", strict(record(kWayFields)));

using Network = ModelledRank::Network;
constexpr std::array kNetworkFields{
    field<&Network::within, kWay>("within", optional),
    field<&Network::between, kWay>("between", optional),
    field<&Network::overhead, kDelay>("overhead", optional, "Host time to start an operation, in seconds."),
    field<&Network::jitter, kShareOfAll>("jitter", optional, "Mean random increase of latencies, as a share."),
    field<&Network::asymmetry, kShareOfAll>(
        "asymmetry", optional, "Share by which messages to lower ranks take longer than those to higher ranks."),
};
constexpr Codec kNetwork = strict(record(kNetworkFields));

constexpr std::array kFileFields{
    part("schema", kSchema<kProfileVersion1>),
    field<&Written::base, kBase>("base", "Built-in profile that this file modifies."),
    field<&Written::name, kShortWord>("name", "Name of the profile in reports; not that of a built-in one."),
    field<&Written::description, kShortWord>("description", optional),
    field<&Written::gpu_name, kShortWord>("gpu", optional, "Name of the GPU. Absent: as in the base profile."),
    field<&Written::uuid, kShortWord>(
        "uuid", optional, "UUID of the GPU; with several GPUs, each appends its number. Absent: GPUs have no UUID."),
    field<&Written::host, kShortWord>("host", optional, "Name of this rank's host."),
    field<&Written::scale, kScale>(
        "scale", optional,
        "Factors for the rates of parts of the machine. link: copies and kernel accesses between the GPU and pinned "
        "host memory. gpu: copies and fills inside the GPU, memory traffic and arithmetic of kernels, and the clock "
        "rate. host_memory: all traffic of host memory, pageable or pinned, and between sockets. nvlink: copies and "
        "kernel accesses from GPU to GPU."),
    field<&Written::set, kSet>(
        "set", optional,
        "Single numbers of the profile, applied after scale; src/device/sim/profile.hpp explains them."),
    field<&Written::sources, kSources>(
        "sources", optional,
        "Sources of the numbers in set: confidence interval and measured file, as calibrate writes them."),
    field<&Written::noise, kDeviation>("noise", optional, "Relative standard deviation of the duration of operations."),
    field<&Written::seed>("seed", optional, "Random seed of noise and late, combined with the rank. 1 if absent."),
    field<&Written::late, kLate>("late", optional, "How often a host thread wakes up late, and by how much."),
    field<&Written::clock, kClockCodec>(
        "clock", optional, "Clock of this rank: it shows (1 + drift) t + offset at the common time t, in seconds."),
    field<&Written::network, kNetwork>("network", optional,
                                       "Network model of messages from this rank, within its node and to other nodes."),
    field<&Written::inject, kFault>(kInjectField, optional,
                                    "Injected device fault, in the syntax of XFERBENCH_INJECT: die:launch:5."),
};

// --- Conversion and checks ------------------------------------------------------------------------------------------

Profile changed(const Written& file) {
  Profile p = *std::ranges::find(profiles(), file.base, &Profile::name);
  p.base = file.base;
  p.name = file.name;
  p.description = file.description;
  if (!file.gpu_name.empty()) p.gpu_name = file.gpu_name;
  p.uuid = file.uuid;
  for (const auto& [name, factor] : file.scale) {
    const auto names = texts_of(Part{});
    const auto part = static_cast<Part>(std::ranges::find(names, name) - names.begin());
    for (const ProfileField& field : profile_fields()) {
      if (field.belongs_to(part)) field.set(p, factor * field.get(p));
    }
  }
  for (const auto& [name, number] : file.set) find_profile_field(name)->set(p, number);
  p.varies = {.noise = file.noise,
              .late_probability = file.late.probability,
              .late_seconds = file.late.seconds,
              .seed = file.seed};
  return p;
}

void check_source(Reader& in, const Written& file, const Source& source) {
  const auto of = std::ranges::find(file.set, source.name, &Named::name);
  if (of == file.set.end()) {
    in.fail(fmt::format("sources: {} is not in set; only numbers in set have sources", in_quotes(source.name)));
  }
  if (!source.has_interval || (source.low <= of->number && of->number <= source.high)) return;
  in.fail(fmt::format("sources: {} is set to {}, which is outside its interval from low {} to high {}",
                      in_quotes(source.name), of->number, source.low, source.high));
}

/// Checks conditions that involve several fields of the file.
void check_file(Reader& in, void* record) {
  const auto& file = as<Written>(record);
  if (std::ranges::find(profiles(), file.name, &Profile::name) != profiles().end()) {
    in.fail(fmt::format("name: {} is a built-in profile; choose another name", in_quotes(file.name)));
  }
  for (const Source& source : file.sources) check_source(in, file, source);
  const Profile p = changed(file);
  if (p.sockets > p.gpus) in.fail(fmt::format("set: {} sockets, but {} GPU", p.sockets, p.gpus));
  const Capacity& between = p.between_sockets;
  const double least = std::min({between.in, between.out, between.duplex_in, between.duplex_out});
  if (p.sockets > 1 && least <= 0) in.fail("set: two sockets, but a capacity of 0 between them");
}

constexpr Codec kFile{.expected = "an object with schema, base and name",
                      .help =
                          "Profile file that --simulate FILE reads, version 1: a modification of a built-in profile of "
                          "the simulated device. Fields are added, never renamed, removed or given another meaning.",
                      .is_object = true,
                      .fields = kFileFields,
                      .strict = true,
                      .end = check_file};

/// Collects all single values that the file gives, with dotted names such as "clock.offset".
void collect(const Codec& shape, const void* value, const std::string& name,
             std::vector<Environment::ProfileChange>& found) {
  const auto inside = [&](std::string_view part, const Codec& its_shape, const void* its_value) {
    collect(its_shape, its_value, name.empty() ? std::string(part) : fmt::format("{}.{}", name, part), found);
  };
  if (shape.give != nullptr) {
    const Single single = shape.give(value);
    if (const auto* text = std::get_if<std::string_view>(&single)) {
      found.push_back({name, std::string(*text)});
    } else {
      const auto* whole = std::get_if<std::uint64_t>(&single);
      found.push_back({name, whole != nullptr ? static_cast<double>(*whole) : std::get<double>(single)});
    }
  } else if (shape.each != nullptr) {
    shape.each(value, inside);
  } else {
    for (const Field& field : shape.fields) {
      if (const void* part = field.from(value, false)) inside(field.name, *field.shape, part);
    }
  }
}

/// Returns the values in the file that influence results, sorted by name.
std::vector<Environment::ProfileChange> changes_of(const Written& file) {
  constexpr std::array<std::string_view, 6> kOthers{"schema", "base", "name", "description", "uuid", "host"};
  const bool varies = file.noise > 0 || file.late.probability > 0;
  std::vector<Environment::ProfileChange> changes;
  collect(kFile, &file, "", changes);
  std::erase_if(changes, [&](const auto& change) {
    return has_item(kOthers, change.name) || change.name.starts_with("sources.") || (change.name == "seed" && !varies);
  });
  std::ranges::sort(changes, {}, &Environment::ProfileChange::name);
  return changes;
}

ProfileFile made_of(const Written& file) {
  ProfileFile made{.profile = changed(file), .rank = {.host = file.host, .clock = file.clock, .network = file.network}};
  made.profile.changes = changes_of(file);
  for (const Source& source : file.sources) {
    made.sources.push_back(source.source);
    if (source.low < source.high) made.uncertain.push_back({find_profile_field(source.name), source.low, source.high});
  }
  if (!file.inject.empty()) made.fault = parse_fault(file.inject);
  return made;
}

}  // namespace

Profile at_ends(const ProfileFile& file, ProfileEnds ends) {
  Profile profile = file.profile;
  for (const Uncertain& u : file.uncertain) {
    const Quantity& q = *u.field->quantity;
    if (ends == ProfileEnds::middle || q.faster == Faster::neither) continue;
    const bool high = (q.faster == Faster::more) == (ends == ProfileEnds::fastest);
    u.field->set(profile, std::clamp(high ? u.high : u.low, q.least, q.most));
  }
  return profile;
}

ProfileFile read_profile(const std::string& path) { return made_of(record_from_file<Written>(path, kFile)); }

ProfileFile parse_profile(std::string_view text, std::string_view name) {
  return made_of(record_from_text<Written>(text, name, kFile));
}

std::string profile_schema() { return schema_of(kFile); }

ProfileFile find_profile(const std::string& profile) {
  if (is_profile_file(profile)) return read_profile(profile);
  const auto found = std::ranges::find(profiles(), profile, &Profile::name);
  if (found == profiles().end()) throw UsageError(fmt::format("there is no profile '{}' to simulate", profile));
  return {.profile = *found};
}

}  // namespace xferbench::sim

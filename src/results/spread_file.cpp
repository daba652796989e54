#include "results/spread_file.hpp"

#include <array>

#include "results/json_codec.hpp"

namespace xferbench {

namespace {

using namespace json;
using enum Rule;

constexpr std::string_view kSpreadVersion1 = "xferbench-spread/1";
constexpr std::size_t kMostCases = 10'000'000;  // more than a results file may have

constexpr std::array kCaseSpreadFields{
    field<&CaseSpread::key>("key"),
    field<&CaseSpread::measured>("measured", "Measurement whose medians were compared."),
    field<&CaseSpread::processes, kWhole<std::size_t, 2>>("processes"),
    field<&CaseSpread::spread>("spread", "Standard deviation of the medians' logarithms: 0.01 is about 1 %."),
};
constexpr Codec kCaseSpread = on_one_line(record(kCaseSpreadFields));

constexpr std::array kSpreadFields{
    part("schema", kSchema<kSpreadVersion1>),
    field<&SpreadFile::updated_at, kTime>("updated_at"),
    field<&SpreadFile::gpu>("gpu"),
    field<&SpreadFile::uuid>("uuid", omit_empty, "UUID of the GPU; absent if it has none."),
    field<&SpreadFile::profile>("profile", omit_empty, "Profile of the simulated device; absent for a real one."),
    field<&SpreadFile::cases, kListOf<CaseSpread, kCaseSpread, kMostCases>>("cases"),
};
constexpr Codec kSpreadFile =
    expecting(record(kSpreadFields,
                     "Spread file that xferbench --repeat N --spread FILE writes and compare --spread FILE reads, "
                     "version 1: the spread between processes that measure the same case on one machine. Fields are "
                     "added, never renamed, removed or given another meaning."),
              "a spread file of xferbench --repeat N --spread");

}  // namespace

SpreadFile read_spread(const std::string& path) { return record_from_file<SpreadFile>(path, kSpreadFile); }

SpreadFile parse_spread(std::string_view text, std::string_view name) {
  return record_from_text<SpreadFile>(text, name, kSpreadFile);
}

std::string to_json(const SpreadFile& file) { return text_of(kSpreadFile, &file); }

std::string spread_schema() { return schema_of(kSpreadFile); }

}  // namespace xferbench

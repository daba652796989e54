#include <array>

#include "report/calibrate/calibrate_report.hpp"
#include "results/json.hpp"
#include "results/json_codec.hpp"

/// A namespace of its own, because the format of results uses the same names.
namespace xferbench::validation_json {

namespace {

using namespace json;
using namespace validation;
using enum Rule;

constexpr std::string_view kVersion1 = "xferbench-validation/1";

constexpr std::array kErrorsFields{
    field<&Errors::cases>("cases"),
    field<&Errors::bias, kNumber>("bias", "Median of predicted / measured - 1."),
    field<&Errors::median>("median", "Median of |predicted / measured - 1|."),
    field<&Errors::p95>("p95", "95th percentile of these errors."),
    field<&Errors::close>("within_5_percent", "Share of the cases whose error is at most 5 %."),
};
constexpr Codec kErrors = named("errors", record(kErrorsFields));

constexpr Codec kKinds{.is_object = true,
                       .each =
                           [](const void* kinds, const Visit& visit) {
                             for (const auto& [kind, errors] : as<decltype(Group::kinds)>(kinds)) {
                               visit(kind, kErrors, &errors);
                             }
                           },
                       .values = &kErrors};

constexpr std::array kGroupFields{
    field<&Group::name>("name"),
    field<&Group::all, kErrors>("errors"),
    field<&Group::kinds, kKinds>("kinds"),
    field<&Group::fastest>("fastest", "Key of the fastest case by measurement."),
    field<&Group::predicted_fastest>("predicted_fastest"),
    field<&Group::regret>("regret", "Extra time of the predicted fastest case over the measured fastest, as a share."),
    field<&Group::coverage>("coverage", omit_empty, "Share of cases whose confidence interval overlaps `between`."),
};
constexpr Codec kGroup = record(kGroupFields);

constexpr std::array kCaseFields{
    field<&Prediction::key>("key"),
    field<&Prediction::measured>("measured", "Median of the headline, in seconds."),
    field<&Prediction::predicted>("predicted"),
    field<&Prediction::interval, kInterval>("ci95", omit_empty, "95 % confidence interval of the measured median."),
    field<&Prediction::between, kInterval>("between", omit_empty,
                                           "Predictions with the profile's numbers at the ends of their intervals."),
};
constexpr Codec kCase = record(kCaseFields);

struct Validation {
  Validated validated;
  Errors errors;
  std::vector<Group> groups;
};

template <auto member, const Codec& shape>
constexpr Field of_validated(std::string_view name, std::string_view help = {}) {
  Field of_validated = field<member, shape>(name, help);
  of_validated.from = [](const void* validation_of_all, bool) -> const void* {
    return &(as<Validation>(validation_of_all).validated.*member);
  };
  return of_validated;
}

constexpr std::array kValidationFields{
    part("schema", kSchema<kVersion1>),
    of_validated<&Validated::profile, kWord>("profile"),
    of_validated<&Validated::files, kTexts>("files"),
    field<&Validation::errors, kErrors>("errors"),
    field<&Validation::groups, kListOf<Group, kGroup>>("groups"),
    of_validated<&Validated::predictions, kListOf<Prediction, kCase>>("cases"),
    of_validated<&Validated::left_out, kTexts>("left_out", "Results that were not predicted, as sentences."),
};
constexpr Codec kValidation = on_many_lines(
    record(kValidationFields,
           "File that xferbench validate --json writes, version 1: how well a profile of the simulated device predicts "
           "results. Fields are added, never renamed, removed or given another meaning."));

}  // namespace

}  // namespace xferbench::validation_json

namespace xferbench {

std::string to_validation_json(const Validated& v) {
  const validation_json::Validation validation_of_all{v, validation::errors_of(v.predictions),
                                                      validation::groups_of(v.predictions)};
  return json::text_of(validation_json::kValidation, &validation_of_all);
}

std::string validation_schema() { return json::schema_of(validation_json::kValidation); }

}  // namespace xferbench

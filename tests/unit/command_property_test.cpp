// Properties of random command lines: printed values are read back unchanged, and the order of flags does not matter.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "parsing.hpp"

namespace xferbench::cli {
namespace {

using Words = std::vector<std::string>;

rc::Gen<std::uint64_t> sizes() { return rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 62); }

Words keys_of(const Words& arguments) {
  Words all;
  for (const PlannedCase& c : test::cases_of(arguments)) all.push_back(c.config.key());
  return all;
}

RC_GTEST_PROP(ValueGrammar, ReadsBackEverySizeThatIsPrinted, ()) {
  const std::uint64_t bytes = *sizes();
  RC_ASSERT(parse_size(format_size_exact(bytes)) == bytes);
}

RC_GTEST_PROP(ValueGrammar, ReadsBackAListOfEveryKind, ()) {
  const auto kind = *rc::gen::element(AxisKind::size, AxisKind::count, AxisKind::real);
  const Axis axis{.name = "axis", .kind = kind, .min = kind == AxisKind::real ? -1e300 : 1, .max = 1e300};
  std::string text;
  std::vector<Value> values;
  for (const std::uint64_t bits : *rc::gen::nonEmpty(rc::gen::unique<std::vector<std::uint64_t>>(sizes()))) {
    values.push_back(kind == AxisKind::real ? Value(static_cast<double>(bits % 1'000'000) / 64) : Value(bits));
    if (std::ranges::count(values, values.back()) > 1) values.pop_back();
    text += (text.empty() ? "" : ",") + to_text(values.back(), kind);
  }
  RC_ASSERT(parse_axis(axis, text, "--axis") == values);
}

RC_GTEST_PROP(ValueGrammar, SaysOfEveryTextWhatItMeansOrWhatIsWrong, (const std::string& text)) {
  try {
    RC_ASSERT(parse_size(text) > 0);
  } catch (const UsageError& error) {
    RC_ASSERT(!std::string(error.what()).empty());
  }
}

RC_GTEST_PROP(CommandLineOrder, MeansNothingForFlagsOfAScenario, ()) {
  std::vector<Words> flags{{"--size", "64K,1M"}, {"--dir=h2d,d2h"}, {"--host", "pinned"}, {"--api", "all"},
                           {"--seed", "3"},      {"--simulate"},    {"--quiet"}};
  const Words expected = keys_of({"memcpy", "--size", "64K,1M", "--dir=h2d,d2h", "--host", "pinned", "--api", "all"});
  for (std::size_t i = flags.size() - 1; i > 0; --i)
    std::swap(flags[i], flags[*rc::gen::inRange<std::size_t>(0, i + 1)]);
  const auto before = *rc::gen::inRange<std::size_t>(0, flags.size() + 1);
  Words words;
  for (std::size_t i = 0; i <= flags.size(); ++i) {
    if (i == before) words.emplace_back("memcpy");
    if (i < flags.size()) words.insert(words.end(), flags[i].begin(), flags[i].end());
  }
  RC_ASSERT(keys_of(words) == expected);
}

}  // namespace
}  // namespace xferbench::cli

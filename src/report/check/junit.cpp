// JUnit XML with only the elements that all readers know: those of Apache Ant, and <skipped>, which Jenkins, GitLab and
// others read.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/lists.hpp"
#include "core/printable.hpp"
#include "report/check/check_report.hpp"
#include "results/utc.hpp"

namespace xferbench {

namespace {

/// Escapes text for XML. U+FFFE and U+FFFF are printable, but not allowed in XML.
std::string xml_escaped(std::string_view text) {
  std::string result;
  const std::string shown = printable(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string_view rest = std::string_view(shown).substr(i);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      result += '?';
      i += 2;
      continue;
    }
    switch (shown[i]) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += shown[i];
    }
  }
  return result;
}

/// Returns the file's name as a part of a JUnit class name. Servers split class names at dots, so dots become "_".
std::string class_part(const std::string& file) {
  std::string part = std::filesystem::path(file).stem().string();
  for (char& c : part) {
    if (c == '.' || c == ' ') c = '_';
  }
  return part.empty() ? "results" : part;
}

struct TestCase {
  std::string name;
  std::string element{};  ///< XML element of the outcome: "failure", "error", "skipped"; empty: the case passed
  std::string type{};
  std::string message{};
  std::string details{};
};

TestCase case_of(const check::Row& row) {
  using enum check::Verdict;
  const std::string expected = fmt::format("expected {}", row.expected);
  if (row.verdict == holds) return {.name = row.name};
  if (row.verdict == not_measured) {
    return {.name = row.name,
            .element = "skipped",
            .message = row.command.empty() ? about(row) : "not measured; to measure it: " + row.command};
  }
  return {.name = row.name,
          .element = "failure",
          .type = std::string(to_text(row.verdict)),
          .message = row.shown.empty() ? about(row) : fmt::format("{}, {}", row.shown, expected),
          .details = fmt::format("{}; {}", expected, about(row))};
}

std::vector<TestCase> cases_of(const check::Checked& checked) {
  std::vector<TestCase> cases = list_of(checked.rows, case_of);
  if (!checked.complete) {
    cases.push_back(
        {.name = "the run is complete", .element = "error", .type = "incomplete", .message = incomplete(checked)});
  }
  if (nothing_was_checked(checked)) {
    cases.push_back(
        {.name = "something was checked", .element = "error", .type = "unchecked", .message = summary(checked)});
  }
  const std::vector<std::string> names = made_distinct(list_of(cases, &TestCase::name));
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].name = names[i];
  return cases;
}

std::string case_text(const TestCase& one, const std::string& class_name) {
  // The format requires a duration. A comparison with a limit takes no notable time.
  const std::string head = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"0\"", xml_escaped(one.name),
                                       xml_escaped(class_name));
  if (one.element.empty()) return head + "/>\n";
  // The oldest schema expects the message of a skipped test as text.
  const std::string inner =
      one.element == "skipped" ? fmt::format("<skipped>{}</skipped>", xml_escaped(one.message))
                               : fmt::format("<{0} type=\"{1}\" message=\"{2}\">{3}</{0}>", one.element,
                                             xml_escaped(one.type), xml_escaped(one.message), xml_escaped(one.details));
  return fmt::format("{}>\n      {}\n    </testcase>\n", head, inner);
}

std::string property(std::string_view name, std::string_view value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_escaped(value));
}

std::string suite_text(const check::Checked& checked, const std::string& name, std::size_t number) {
  const std::string package = "check." + class_part(checked.expectations);
  const std::vector<TestCase> cases = cases_of(checked);
  const auto count = [&](std::string_view element) {
    return std::ranges::count_if(cases, [&](const TestCase& one) { return one.element == element; });
  };
  std::string text = fmt::format(
      "  <testsuite name=\"{}\" package=\"{}\" id=\"{}\" timestamp=\"{}\" hostname=\"localhost\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" time=\"0\">\n    <properties>\n",
      xml_escaped(name), xml_escaped(package), number, utc_text(parse_utc(checked.started_at).value_or(0)),
      cases.size(), count("failure"), count("error"));
  text += property("results", checked.results) + property("expectations", checked.expectations) +
          property("gpu", checked.gpu) + property("simulated", checked.simulated) +
          property("verified", checked.verified ? "yes" : "no") + property("injected_fault", checked.injected_fault);
  text += "    </properties>\n";
  for (const TestCase& one : cases) text += case_text(one, package + "." + name);
  return text + fmt::format("    <system-out>{}</system-out>\n    <system-err></system-err>\n  </testsuite>\n",
                            xml_escaped(summary(checked)));
}

}  // namespace

std::string to_check_junit(AllChecked all) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  const std::vector<std::string> names =
      made_distinct(list_of(all, [](const check::Checked& checked) { return class_part(checked.results); }));
  for (std::size_t i = 0; i < all.size(); ++i) text += suite_text(all[i], names[i], i);
  return text + "</testsuites>\n";
}

}  // namespace xferbench

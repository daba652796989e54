#include "report/compare/compare_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "core/printable.hpp"
#include "report/cells.hpp"
#include "report/compare/cells.hpp"

namespace xferbench {

namespace {

using compare::Verdict;

// A comment may have 65,536 characters; the summary of a CI job's step takes 1 MiB. What is shorter than the one fits
// into the other, and bytes are never fewer than characters.
constexpr std::size_t kMost = 65'000;
constexpr std::size_t kMostNews = 28'000;
constexpr std::size_t kMostDoubts = 8'000;

/// In code, where nobody can be mentioned by it.
std::string code(const std::string& text) { return text.empty() ? "" : "<code>" + markdown_text(text) + "</code>"; }

bool is_news(const compare::Row& row) {
  return row.verdict != Verdict::same && row.verdict != Verdict::inconclusive && row.verdict != Verdict::added;
}

std::string line_of(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

/// As many lines as fit, and how many do not.
std::string table_of(std::string text, const std::vector<std::string>& lines, std::size_t most) {
  std::size_t shown = 0;
  for (; shown < lines.size() && text.size() + lines[shown].size() <= most; ++shown) text += lines[shown];
  if (shown < lines.size()) text += fmt::format("\n{} more cases do not fit here.\n", lines.size() - shown);
  return text;
}

std::string row_line(const compare::Row& row) {
  const auto value = [&row](const std::optional<compare::Side>& side) {
    return side ? markdown_text(compared_value(side->median, row.unit)) : "";
  };
  const bool emphasised = row.verdict == Verdict::regressed || row.verdict == Verdict::missing;
  const std::string mark = emphasised ? "**" : "";
  return line_of({fmt::format("{0}{1}{0}", mark, to_text(row.verdict)), code(with_place(row.key, row)),
                  code(row.measured), value(row.base), value(row.next), change_text(row.ratio),
                  change_text(row.interval), markdown_text(p_text(row.p_holm)), sizes_text(row), code(remarks(row))});
}

/// Those rows that are news, or those that are not, in so many bytes at most; empty if there are none.
std::string rows_table(const compare::Comparison& comparison, bool news, std::size_t most) {
  std::vector<std::string> lines;
  for (const compare::Row* row : by_verdict(comparison)) {
    if (is_news(*row) == news) lines.push_back(row_line(*row));
  }
  const std::string head = line_of({"verdict", "case", "measured", "base", "new", "change", "95 % interval", "p",
                                    comparison.several_files() ? "files" : "n", "why"});
  return lines.empty() ? "" : table_of(head + "|---|---|---|--:|--:|--:|--:|--:|--:|---|\n", lines, most);
}

/// The first so many bytes, less what would be a part of a character.
std::string clipped(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

constexpr std::size_t kLongest = 150;

/// Of texts from files, which may be of any length.
std::string short_code(const std::string& text) { return code(clipped(text, kLongest)); }

std::string bullets(const std::vector<std::string>& texts) {
  std::string list;
  std::size_t shown = 0;
  for (; shown < texts.size() && list.size() < kMostDoubts; ++shown) {
    list += "- " + short_code(texts[shown]) + "\n";
  }
  if (shown < texts.size()) list += fmt::format("- {} more\n", texts.size() - shown);
  return list;
}

std::string folded(const std::string& title, const std::string& text) {
  return "<details><summary>" + title + "</summary>\n\n" + text + "\n</details>\n\n";
}

/// What else could explain a change. What is short stands open.
std::string doubts_of(const compare::Comparison& comparison) {
  constexpr std::size_t kMostOpen = 5;
  std::vector<std::string> doubts = comparison.warnings;
  for (const compare::Difference& d : comparison.differences) doubts.push_back(difference_text(d));
  if (doubts.empty()) return "";
  if (doubts.size() <= kMostOpen) return "What else could explain a change:\n\n" + bullets(doubts) + "\n";
  return folded(fmt::format("What else could explain a change: {} things", doubts.size()), bullets(doubts));
}

std::string source_text(const std::vector<compare::Source>& sources) {
  const compare::Source& first = sources.front();
  std::string text = short_code(first.name) + ": " + short_code(first.gpu) + ", xferbench " + short_code(first.version);
  if (sources.size() > 1) text += fmt::format(" and {} more files", sources.size() - 1);
  return text;
}

std::string simulated_line(const std::optional<std::string>& profile) {
  return profile ? "**SIMULATED** by profile " + short_code(*profile) + ": modelled times, not measurements\n\n" : "";
}

/// As on the terminal.
std::string not_verified_line(const std::vector<compare::Source>& sources, const std::string& side) {
  constexpr std::size_t kMostNames = 500;
  const std::vector<std::string> names = not_verified(sources);
  if (names.empty()) return "";
  return fmt::format("**{}**: {}{}\n\n", kNotVerifiedMark, side,
                     code(clipped(fmt::format("{}", fmt::join(names, ", ")), kMostNames)));
}

}  // namespace

std::string markdown_text(const std::string& text) {
  constexpr std::string_view kMeaningful = "&<>|`*_[]\\~@#\"'!";
  std::string escaped;
  for (const char c : printable(text, ' ')) {
    if (kMeaningful.find(c) != std::string_view::npos) {
      escaped += fmt::format("&#{};", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string to_markdown(const compare::Comparison& comparison) {
  std::string text = fmt::format("### xferbench: {}\n\n", summary(comparison));
  // The verdict first: a summary shows its beginning, and a mail about a comment little more.
  text += "**" + markdown_text(conclusion(comparison.outcome)) + "**\n\n";
  text += simulated_line(comparison.simulated) + not_verified_line(comparison.base, "base ") +
          not_verified_line(comparison.next, "new ");
  if (const std::string news = rows_table(comparison, true, kMostNews); !news.empty()) text += news + "\n";
  text += doubts_of(comparison);
  std::string last;
  for (const std::string& sentence : comparison.outcome.reach) last += markdown_text(sentence) + "  \n";
  if (!comparison.matched.empty()) last += markdown_text(comparison.matched) + "  \n";
  last += fmt::format("\nBase {}; new {}; {}.\n", source_text(comparison.base), source_text(comparison.next),
                      method(comparison));
  const std::string title = "Cases without a change that is sure";
  const std::size_t taken = text.size() + last.size() + folded(title, "").size();
  const std::size_t left = kMost - std::min(taken, kMost);
  if (const std::string others = rows_table(comparison, false, left); !others.empty()) text += folded(title, others);
  return text + last;
}

std::string to_markdown(const compare::Across& across) {
  std::vector<std::string> header{"case", "measured"};
  std::string rule = "|---|---|";
  for (const std::string& column : across.columns) {
    header.push_back(code(column));
    rule += "--:|";
  }
  std::vector<std::string> lines;
  for (const compare::Across::Row& row : across.rows) {
    std::vector<std::string> cells{code(row.key), code(row.measured)};
    for (const auto& cell : row.cells) {
      const std::string value = cell ? markdown_text(compared_value(cell->median, row.unit)) : "-";
      cells.push_back(cell && cell->best ? "**" + value + "**" : value);
    }
    lines.push_back(line_of(cells));
  }
  const std::string table = table_of(line_of(header) + rule + "\n", lines, kMost - 9'000);
  return "### xferbench: side by side\n\n" + simulated_line(across.simulated) + not_verified_line(across.sources, "") +
         table + "\nBold: the best, or not to be told from it by the 95 % intervals.\n" +
         (across.warnings.empty() ? "" : "\n" + bullets(across.warnings));
}

}  // namespace xferbench

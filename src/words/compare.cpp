#include "words/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "words/compare_text.hpp"

namespace xferbench {

namespace {

using compare::Verdict;

constexpr std::size_t kManyRows = 50;
constexpr std::size_t kMostOfFiles = 500;  // maximum bytes for the names of files, of which there may be hundreds

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::regressed:
    case Verdict::missing: return Tone::bad;
    case Verdict::improved: return Tone::good;
    case Verdict::changed:
    case Verdict::inconclusive: return Tone::notice;
    case Verdict::same:
    case Verdict::added: break;
  }
  return Tone::plain;
}

bool is_quiet(const compare::Row& row) {
  return row.verdict == Verdict::same || row.verdict == Verdict::inconclusive || row.verdict == Verdict::added;
}

/// Returns the remark that many inconclusive rows share, so that it is printed once; empty if there is none.
std::string usual_remark(const compare::Comparison& comparison) {
  constexpr std::ptrdiff_t kMany = 4;
  std::map<std::string, std::ptrdiff_t> counts;
  for (const compare::Row& row : comparison.rows) {
    if (row.verdict == Verdict::inconclusive) ++counts[remarks(row)];
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  if (most == counts.end() || most->second < kMany || most->first.empty()) return "";
  // A row without a remark would seem to have the common remark, so every inconclusive row must have one.
  const bool all_say_something = std::ranges::none_of(comparison.rows, [](const compare::Row& row) {
    return row.verdict == Verdict::inconclusive && remarks(row).empty();
  });
  return all_say_something ? most->first : "";
}

Table empty_table(const compare::Comparison& comparison) {
  return {.header = {"verdict", "change", "95 % interval", "base", "new", "p",
                     comparison.several_files() ? "files" : "n", "measured", "case"},
          .left_columns = 1,
          .last_left = true,
          .gap = 2,
          .least_important = {6, 5, 7, 3, 4},
          .below = "why"};
}

/// Returns the row of a case. `key`: the case's key, or the part of it that distinguishes it from the other cases.
Table::Row row_of(const compare::Row& row, const std::string& key) {
  const auto value = [&row](const std::optional<compare::Side>& side) {
    return side ? compared_value(side->median, row.unit) : "-";
  };
  Cell verdict(verdict_text(row), tone_of(row.verdict));
  verdict.strong = verdict.tone == Tone::bad;
  return {
      .cells = {verdict, change_text(row.ratio), change_text(row.interval), value(row.base), value(row.new_side),
                p_text(row.p_holm), sizes_text(row), Cell::as_code(row.measured), Cell::as_code(with_place(key, row))},
      .below = remarks(row).empty() ? std::vector<std::string>() : std::vector{remarks(row)}};
}

/// Returns the first `most` bytes of a text from a file, which may be of any length. No UTF-8 character is split.
std::string clipped(const std::string& text, std::size_t most = 150) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

/// The files of one side of a comparison. `side` is put before their names; empty for files compared side by side.
struct NamedSide {
  const std::vector<compare::Source>& sources;
  const char* side;
};

/// Returns the names of the files for which `say` returns a text, each followed by it; cut to kMostOfFiles bytes.
template <class Say>
std::string files_of(std::initializer_list<NamedSide> sides, const Say& say) {
  std::vector<std::string> said;
  for (const auto& [sources, side] : sides) {
    for (const compare::Source& s : sources) {
      if (const std::optional<std::string> what = say(s)) add_new(said, side + clipped(s.name) + clipped(*what));
    }
  }
  return clipped(fmt::format("{}", fmt::join(said, ", ")), kMostOfFiles);
}

template <class Holds>
std::string names_of(std::initializer_list<NamedSide> sides, const Holds& holds) {
  return files_of(
      sides, [&holds](const compare::Source& s) { return holds(s) ? std::optional<std::string>("") : std::nullopt; });
}

/// Returns `profile` if it simulated all files; else each profile with the side or the files that it simulated.
std::string profiles_of(const std::string& profile, std::initializer_list<NamedSide> sides) {
  std::vector<std::string> said;
  bool alike = true;
  for (const auto& [sources, side] : sides) {
    for (const auto& [name, files] : by_name(sources, [](const compare::Source& s) { return s.profile; })) {
      alike = alike && name == profile;
      if (name.empty()) continue;
      const bool whole_side = *side != '\0' && files.size() == sources.size();
      const auto which = list_of(files, [](const compare::Source& s) { return clipped(s.name); });
      said.push_back(fmt::format("{} ({}{})", clipped(name), side,
                                 whole_side ? "side" : fmt::format("{}", fmt::join(which, ", "))));
    }
  }
  return alike || said.empty() ? clipped(profile) : clipped(fmt::format("{}", fmt::join(said, ", ")), kMostOfFiles);
}

Trust trust_of(const std::optional<std::string>& profile, std::initializer_list<NamedSide> sides) {
  Trust trust(profile ? profiles_of(*profile, sides) : "", true, {}, true);
  trust.unverified = names_of(sides, [](const compare::Source& s) { return !s.verified; });
  trust.verified = trust.unverified.empty();
  trust.fault = files_of(
      sides, [](const compare::Source& s) { return s.fault.empty() ? std::nullopt : std::optional(": " + s.fault); });
  const std::string cut_off = names_of(sides, [](const compare::Source& s) { return !s.complete; });
  trust.complete = cut_off.empty();
  trust.incomplete = cut_off.empty() ? "" : fmt::format("INCOMPLETE: {}: not all cases were completed", cut_off);
  return trust;
}

void add_sources(const std::vector<compare::Source>& sources, const char* side, Document& document) {
  const std::string blank(std::string_view(side).size(), ' ');
  for (auto first = sources.begin(); first != sources.end();) {
    // all processes of a file share one line
    const auto next = std::find_if(first, sources.end(), [&](const auto& other) { return other.name != first->name; });
    const std::string processes = next - first == 1 ? "" : fmt::format(" ({} processes)", next - first);
    const std::string marks = first->verified ? "" : ", NOT VERIFIED";
    document.add(Sentence{.text = fmt::format("{}{}: {}, {}, xferbench {}{}", first->name, processes, first->gpu,
                                              first->started_at, first->version, marks),
                          .label = first == sources.begin() ? side : blank},
                 false, Shown::terminal);
    first = next;
  }
}

std::string sources_text(const char* side, const std::vector<compare::Source>& sources) {
  const compare::Source& first = sources.front();
  std::string text =
      fmt::format("{} {}: {}, xferbench {}", side, clipped(first.name), clipped(first.gpu), clipped(first.version));
  const std::size_t more = sources.size() - 1;
  return more > 0 ? text + fmt::format(" and {} more process{}", more, more == 1 ? "" : "es") : text;
}

template <class Row>
CommonKey common_key_of(const std::vector<Row>& rows) {
  const std::vector<std::string> keys = list_of(rows, &Row::key);
  return keys.size() < 2 ? CommonKey{} : common_key(keys);
}

/// Adds a table of all cases; if there are many, only of those with a known change.
void add_rows(const compare::Comparison& comparison, bool all, Document& document) {
  const bool fold = !all && comparison.rows.size() > kManyRows;
  const CommonKey common = common_key_of(comparison.rows);
  const std::string usual = usual_remark(comparison);
  Table table = empty_table(comparison);
  for (const compare::Row* row : by_verdict(comparison)) {
    if (fold && is_quiet(*row)) continue;
    table.rows.push_back(row_of(*row, common.rest(row->key)));
    if (!usual.empty() && table.rows.back().below == std::vector{usual}) table.rows.back().below.clear();
  }
  const std::size_t folded = comparison.rows.size() - table.rows.size();
  if (!common.parts.empty()) {
    document.add(Sentence{.text = "all cases: " + common.text(), .tone = Tone::dim}, true, Shown::terminal);
  }
  if (!table.rows.empty()) document.add(std::move(table), common.parts.empty(), Shown::terminal);
  if (!usual.empty()) {
    document.add(Sentence{.text = "inconclusive rows without a remark: " + usual}, true, Shown::terminal);
  }
  if (folded > 0) {
    const std::string text =
        fmt::format("{} of {} cases are not listed; --all lists them", folded, comparison.rows.size());
    document.add(Sentence{.text = text}, false, Shown::terminal);
  }
}

/// Replaces the least important columns by one line if all rows are equal in them, for example "all cases: measured
/// copy; files 5, 5". A page has no room for such columns.
class EqualColumns {
 public:
  explicit EqualColumns(const compare::Comparison& comparison) {
    constexpr std::ptrdiff_t kMost = 3;
    const Table table = empty_table(comparison);
    std::vector<std::size_t> columns(table.least_important.begin(), table.least_important.begin() + kMost);
    std::ranges::sort(columns, std::greater());
    for (const std::size_t column : columns) {
      const auto text = [column](const compare::Row& row) { return row_of(row, "").cells[column].text; };
      const auto& rows = comparison.rows;
      const auto is_equal = [&](const compare::Row& row) { return text(row) == text(rows.front()); };
      if (rows.size() < 2 || !std::ranges::all_of(rows, is_equal)) continue;
      columns_.push_back(column);
      if (const std::string all = text(rows.front()); !all.empty()) texts_.push_back(table.header[column] + " " + all);
    }
  }
  void erase_from(Table& table) const {
    for (const std::size_t column : columns_) table.erase_column(column);
  }
  [[nodiscard]] std::string text() const {
    return texts_.empty() ? "" : fmt::format("all cases: {}", fmt::join(texts_, "; "));
  }

 private:
  std::vector<std::size_t> columns_;  // indices of the equal columns, from the right
  std::vector<std::string> texts_;
};

/// Adds the cases with a change, then warnings and differences that may be the cause, then, collapsed, all other cases.
void add_folded_rows(const compare::Comparison& comparison, Document& document) {
  constexpr std::size_t kMostOpen = 5;
  Table news = empty_table(comparison);
  Table others = empty_table(comparison);
  for (const compare::Row* row : by_verdict(comparison)) {
    (is_quiet(*row) ? others : news).rows.push_back(row_of(*row, row->key));
  }
  const EqualColumns equal(comparison);
  equal.erase_from(news);
  equal.erase_from(others);
  if (!equal.text().empty()) {
    document.add(Sentence{.text = equal.text(), .tone = Tone::dim}, true, Shown::elsewhere);
  }
  if (!news.rows.empty()) document.add(std::move(news), true, Shown::elsewhere);
  std::vector<std::string> doubts = comparison.warnings;
  for (const compare::Difference& d : comparison.differences) doubts.push_back(difference_text(d));
  List list;
  for (const std::string& doubt : doubts) list.items.push_back({.text = clipped(doubt)});
  if (!doubts.empty() && doubts.size() <= kMostOpen) {
    document.add(Sentence{.text = "Other possible causes of a change:"}, true, Shown::elsewhere);
    document.add(std::move(list), false, Shown::elsewhere);
  } else if (!doubts.empty()) {
    document.add(Fold{fmt::format("Other possible causes of a change: {}", doubts.size()), {{std::move(list)}}}, true,
                 Shown::elsewhere);
  }
  if (others.rows.empty()) return;
  document.add(Fold{"Cases without a significant change", {{std::move(others)}}}, true, Shown::elsewhere);
}

/// Returns at most kMost rows with a ratio; if there are more, leaves out unchanged rows first.
std::vector<const compare::Row*> rows_to_draw(const compare::Comparison& comparison) {
  constexpr std::size_t kMost = 40;
  std::vector<const compare::Row*> rows = by_verdict(comparison);
  std::erase_if(rows, [](const compare::Row* row) { return !row->ratio || !(*row->ratio > 0); });
  if (rows.size() > kMost) std::erase_if(rows, [](const compare::Row* row) { return row->verdict == Verdict::same; });
  if (rows.size() > kMost) rows.resize(kMost);
  return rows;
}

/// Adds a chart with the worst cases first. Fewer than three rows get none: the table is enough for them.
void add_chart(const compare::Comparison& comparison, Document& document) {
  const std::vector<const compare::Row*> rows = rows_to_draw(comparison);
  if (rows.size() < 3) return;
  const auto keys = list_of(rows, [](const compare::Row* row) { return with_place(row->key, *row); });
  const std::vector<std::string> names = short_names(keys);
  const std::set<Better> better = set_of(rows, &compare::Row::better);
  const char* which = better.size() > 1 || better.contains(Better::neither) ? ""
                      : better.contains(Better::lower)                      ? "; lower is better"
                                                                            : "; higher is better";
  Ratios chart{.title = rows.size() < comparison.rows.size()
                            ? fmt::format("New over base: {} of {} cases", rows.size(), comparison.rows.size())
                            : "New over base, each case",
               .along = std::string("change from base to new") + which,
               .threshold = comparison.options.threshold};
  if (chart.threshold > 0) chart.along += fmt::format("; shaded: within {}", format_percent_short(chart.threshold, 6));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const compare::Row& row = *rows[i];
    Ratios::Row& shown = chart.rows.emplace_back(Ratios::Row{.name = names[i],
                                                             .ratio = *row.ratio,
                                                             .text = change_text(row.ratio),
                                                             .verdict = std::string(to_text(row.verdict)),
                                                             .tone = tone_of(row.verdict),
                                                             .said = keys[i]});
    if (row.interval) {
      shown.low = row.interval->low, shown.high = row.interval->high;
      shown.said += ": " + change_text(row.interval);
    }
  }
  document.add(std::move(chart), true, Shown::elsewhere);
}

Table table_of(const compare::Across& across, const CommonKey& common, bool case_first) {
  const std::size_t numbers = across.columns.size();
  Table table{.header = across.columns,
              .left_columns = case_first ? 2U : 0U,
              .last_left = !case_first,
              .gap = 2,
              .least_important = {case_first ? 1 : numbers}};
  const std::array<std::string, 2> names =
      case_first ? std::array<std::string, 2>{"case", "measured"} : std::array<std::string, 2>{"measured", "case"};
  table.header.insert(case_first ? table.header.begin() : table.header.end(), names.begin(), names.end());
  for (const compare::Across::Row& row : across.rows) {
    std::vector<Cell> cells;
    for (const auto& cell : row.cells) {
      const bool best = cell && cell->best;
      Cell& shown = cells.emplace_back((cell ? compared_value(cell->median, row.unit) : "-") + (best ? " *" : "  "),
                                       best ? Tone::good : Tone::plain);
      shown.strong = best;
    }
    const Cell key = Cell::as_code(common.rest(row.key));
    const Cell measured = Cell::as_code(row.measured);
    const std::array<Cell, 2> named = case_first ? std::array{key, measured} : std::array{measured, key};
    cells.insert(case_first ? cells.begin() : cells.end(), named.begin(), named.end());
    table.rows.push_back({std::move(cells)});
  }
  return table;
}

}  // namespace

Trust trust_of(const std::optional<std::string>& profile, const std::vector<compare::Source>& files) {
  return trust_of(profile, {{files, ""}});
}

Trust trust_of(const compare::Comparison& comparison) {
  Trust trust = trust_of(comparison.simulated, {{comparison.base, "base "}, {comparison.new_side, "new "}});
  const auto gpus = std::ranges::find(comparison.differences, "GPU", &compare::Difference::what);
  if (gpus != comparison.differences.end()) {
    trust.besides = {
        fmt::format("DIFFERENT GPUS: {} in base, {} in new; changes include the difference between the GPUs",
                    clipped(gpus->base), clipped(gpus->new_side))};
  }
  return trust;
}

Document document_of(const compare::Comparison& comparison, bool all, bool tells_exit) {
  Document document("xferbench: " + summary(comparison), trust_of(comparison));
  const compare::Outcome& outcome = comparison.outcome;
  const Tone tone = outcome.code == ExitCode::ok       ? Tone::bold
                    : outcome.code == ExitCode::failed ? Tone::bad
                                                       : Tone::notice;
  document.add(Sentence{.text = tells_exit ? conclusion(outcome) : outcome.because, .tone = tone, .strong = true});
  document.add(Sentence{.text = summary(comparison), .tone = Tone::bold}, false, Shown::terminal);
  add_chart(comparison, document);
  add_sources(comparison.base, "base  ", document);
  add_sources(comparison.new_side, "new   ", document);
  add_rows(comparison, all, document);
  add_folded_rows(comparison, document);
  document.add(Sentence{.text = method(comparison), .tone = Tone::dim});
  if (!comparison.matched.empty()) document.add(Sentence{.text = comparison.matched, .tone = Tone::dim});
  for (const std::string& sentence : outcome.reach) document.add(Sentence{.text = sentence, .tone = Tone::dim});
  document.add(Sentence{.text = sources_text("Base", comparison.base)}, false, Shown::elsewhere);
  document.add(Sentence{.text = sources_text("New", comparison.new_side), .goes_on = true}, false, Shown::elsewhere);
  return document;
}

Document document_of(const compare::Across& across) {
  Document document("xferbench: side by side", trust_of(across.simulated, across.sources));
  const CommonKey common = common_key_of(across.rows);
  for (std::size_t i = 0; i < across.columns.size(); ++i) {
    const auto best = std::ranges::count_if(
        across.rows, [i](const compare::Across::Row& row) { return row.cells[i] && row.cells[i]->best; });
    document.add(Sentence{.text = fmt::format("{}: best, or tied with the best, in {} of {} cases", across.columns[i],
                                              best, across.rows.size()),
                          .tone = Tone::bold,
                          .strong = true});
  }
  if (!common.parts.empty()) document.add(Sentence{.text = "all cases: " + common.text(), .tone = Tone::dim}, true);
  // Keys are long. On a terminal they are in the last column, which moves below its rows if lines are too long.
  document.add(table_of(across, common, false), common.parts.empty(), Shown::terminal);
  document.add(table_of(across, common, true), true, Shown::elsewhere);
  document.add(Sentence{.text = "** best, or tied with the best (95 % intervals overlap)", .tone = Tone::dim}, true);
  List warnings;
  for (const std::string& warning : across.warnings) warnings.items.push_back({.text = {}, .code = clipped(warning)});
  if (!warnings.items.empty()) document.add(std::move(warnings), true, Shown::elsewhere);
  return document;
}

}  // namespace xferbench

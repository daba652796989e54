#include "words/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "words/heat_maps.hpp"

namespace xferbench {

namespace {

using Cells = std::vector<Cell>;

/// Returns a case's key without the scenario and the shared axes, which are in the heading: "strategy=graph chunks=8".
std::string short_key(const std::string& key, const ScenarioDescriptor& scenario, const Fixed& fixed) {
  std::vector<std::string> parts;
  for (const std::string& part : split(key, '/')) {
    const auto is_part = [&part](const auto& axis) { return part.starts_with(axis.first + "="); };
    if (part != scenario.name && std::ranges::none_of(fixed, is_part)) parts.push_back(part);
  }
  return parts.empty() ? key : fmt::format("{}", fmt::join(parts, " "));
}

std::string title_of(const std::string& kind) {
  static const std::map<std::string, std::string> titles{
      {"best", "Best case of each method"},
      {"break-even", "Break-even of one-time costs"},
      {"choice", "What to choose"},
      {"diagnosis", "Where the time went"},
      {"fit", "Fits: time = latency + size / rate"},
      {"odd-pair", "Outlier pairs of GPUs"},
      {"per-child", "Cost of one more child"},
      {"shares", "Pairs of GPUs at the same time"},
      {"sort", "Sorting: launches by the GPU and by the host"},
      {"stages", "Sufficient number of stages"},
      {"tensors", "Single tensors against the whole file"},
      {"to-result", "Time to result"},
      {"winner", "Fastest configuration"},
  };
  if (const auto known = titles.find(kind); known != titles.end()) return known->second;
  std::string title = kind;
  std::ranges::replace(title, '-', ' ');
  if (!title.empty()) title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

/// Largest numbers of sentences and table rows that are shown without --details.
constexpr std::size_t kMostSentences = 6;
constexpr std::size_t kMostFindingRows = 24;

/// Collector of a scenario's findings, sorted into tables by kind, matrices and sentences.
class Findings {
 public:
  Findings(const Report& report, const ScenarioDescriptor& scenario, const FindingsShown& shown)
      : scenario_(scenario), fixed_(shown.fixed), all_(shown.details), whose_(shown.whose) {
    for (const Finding& f : report.findings) {
      if (f.scenario == scenario_.name && !leads_answer(scenario_, f)) take(f);
    }
  }

  void add_to(Document& document) const {
    const bool has_any = !pairs_.empty() || !kinds_.empty() || !sentences_.empty();
    if (has_any && !whose_.empty()) document.add(Sentence{.text = whose_ + ":", .tone = Tone::notice}, true);
    for (const auto& [kind, of_pairs] : pairs_) {
      for (Matrix& matrix : pair_matrices(of_pairs, title_of(kind))) document.add(std::move(matrix), true);
    }
    for (const std::string& kind : kinds_) {
      Table table = table_of(kind);
      if (!table.header.empty()) document.add(std::move(table), true);
    }
    if (!sentences_.empty()) document.add(List(sentences_), true);
    if (more_ > 0) document.add(more_note(more_, "finding"), true);
  }

 private:
  void take(const Finding& f) {
    const bool is_sentence = !f.text.empty() && !f.row;
    if (is_of_pair(f)) pairs_[f.kind].push_back(&f);
    if (is_of_pair(f) && !is_sentence) return;
    const std::size_t before = is_sentence ? sentences_.size() : rows_[f.kind].size();
    if (!all_ && (f.detail || before >= (is_sentence ? kMostSentences : kMostFindingRows))) {
      ++more_;
      if (!f.detail && !is_sentence) ++left_out_[f.kind];
    } else if (is_sentence) {
      sentences_.push_back(f.text);
    } else {
      add_new(kinds_, f.kind);
      rows_[f.kind].push_back(&f);
    }
  }

  /// Returns the table for a kind of finding. Its columns are the labels of the findings, then their metrics.
  [[nodiscard]] Table table_of(const std::string& kind) const {
    std::vector<std::string> labels;
    std::vector<std::string> metrics;
    for (const Finding* f : rows_.at(kind)) {
      for (const auto& [name, word] : f->labels) add_new(labels, name);
      for (const Metric& metric : f->metrics) add_new(metrics, metric.name);
    }
    Table table{.header = labels, .left_columns = labels.size(), .title = title_of(kind)};
    if (kind == "fit" && has_both_ways(rows_.at(kind))) table.title += "; both ways: the rate of each direction";
    table.header.insert(table.header.end(), metrics.begin(), metrics.end());
    for (std::string& name : table.header) std::ranges::replace(name, '_', ' ');
    for (std::size_t i = table.header.size(); i-- > labels.size() + 1;) table.least_important.push_back(i);
    for (const Finding* f : rows_.at(kind)) table.rows.push_back({row_of(*f, labels, metrics)});
    if (const auto more = left_out_.find(kind); more != left_out_.end()) {
      table.rows.push_back({{Cell(fmt::format("and {} more", more->second), Tone::dim)}});
    }
    return table;
  }

  [[nodiscard]] Cells row_of(const Finding& finding, const std::vector<std::string>& labels,
                             const std::vector<std::string>& metrics) const {
    Cells row;
    for (const std::string& name : labels) {
      const auto found = std::ranges::find(finding.labels, name, &std::pair<std::string, std::string>::first);
      const std::string text = found == finding.labels.end() ? "-" : found->second;
      row.emplace_back(name == "case" ? short_key(text, scenario_, fixed_) : text);
    }
    for (const std::string& name : metrics) {
      const auto found = std::ranges::find(finding.metrics, name, &Metric::name);
      row.push_back(found == finding.metrics.end() ? Cell() : cell_of(*found));
    }
    return row;
  }

  static Cell cell_of(const Metric& metric) {
    constexpr double kPoor = 0.2;
    Cell cell(format_quantity(metric.value, metric.unit));
    const bool is_poor = metric.name == "worst_residual" && metric.value > kPoor;
    return is_poor ? Cell(cell.text + ", poor", Tone::notice) : cell;
  }

  /// Whether some of the fitted copies run in both directions. The size in such a fit is that of one direction.
  [[nodiscard]] bool has_both_ways(const std::vector<const Finding*>& fits) const {
    const auto is_both = [](const auto& label) {
      return label.second == "bidirectional" || (label.first == "way" && label.second == "both");
    };
    return std::ranges::any_of(fixed_, is_both) ||
           std::ranges::any_of(fits, [&](const Finding* f) { return std::ranges::any_of(f->labels, is_both); });
  }

  const ScenarioDescriptor& scenario_;
  const Fixed& fixed_;
  bool all_;
  std::string whose_;
  std::vector<std::string> kinds_;  // in order of first use
  std::map<std::string, std::vector<const Finding*>> rows_;
  std::map<std::string, std::size_t> left_out_;  // number of rows left out, by kind
  std::map<std::string, std::vector<const Finding*>> pairs_;
  std::vector<std::string> sentences_;
  std::size_t more_ = 0;  // number of findings that are not shown
};

}  // namespace

Sentence more_note(std::size_t count, const char* of_these) {
  const bool one = count == 1;
  return {.text = fmt::format("{} more {}{}: --details shows {}", count, of_these, one ? "" : "s", one ? "it" : "them"),
          .tone = Tone::dim,
          .margin = 2};
}

void add_findings(const Report& report, const ScenarioDescriptor& scenario, const FindingsShown& shown,
                  Document& document) {
  Findings(report, scenario, shown).add_to(document);
}

}  // namespace xferbench

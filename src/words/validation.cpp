#include "words/validation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/units.hpp"

namespace xferbench {

namespace {

using validation::Errors;
using validation::Group;

std::string percent(double share) { return format_percent(share, 2); }

Table::Row row_of(const std::string& name, const Errors& e) {
  return {{name, fmt::format("{}", e.cases), format_change(e.bias, 2), percent(e.median), percent(e.p95),
           format_percent(e.close)}};
}

Table table_of(const std::vector<Group>& groups, std::span<const validation::Prediction> predictions) {
  Table table{.header = {"cases", "number", "bias", "median error", "95 % below", "within 5 %", "regret", "covered"},
              .left_columns = 1,
              .least_important = {2, 7}};
  for (const Group& group : groups) {
    Table::Row& row = table.rows.emplace_back(row_of(group.name, group.all));
    row.cells.emplace_back(group.all.cases > 1 ? percent(group.regret) : "");
    row.cells.emplace_back(group.coverage ? format_percent(*group.coverage) : "");
    if (group.kinds.size() < 2) continue;
    for (const auto& [kind, errors] : group.kinds) table.rows.push_back(row_of("  " + kind, errors));
  }
  if (groups.size() < 2) return table;
  table.rows.push_back(row_of("all", validation::errors_of(predictions)));
  const auto kinds = validation::kinds_of(predictions);
  for (const auto& [kind, errors] : kinds) {
    if (kinds.size() > 1) table.rows.push_back(row_of("  " + kind, errors));
  }
  return table;
}

/// Returns a sentence for each group whose fastest case was not the one predicted, with the cost of the wrong choice.
std::vector<std::string> choices(const std::vector<Group>& groups) {
  std::vector<std::string> sentences;
  for (const Group& g : groups) {
    if (g.fastest == g.predicted_fastest) continue;
    sentences.push_back(fmt::format("{}: {} was the fastest; the model predicts {}, which took {} longer", g.name,
                                    g.fastest, g.predicted_fastest, percent(g.regret)));
  }
  return sentences;
}

std::string headline(const Validated& v) {
  return fmt::format("{} against {}: predicted / measured - 1 of each case's headline", v.profile,
                     fmt::join(v.files, ", "));
}

}  // namespace

Document document_of(const Validated& v) {
  const std::vector<Group> groups = validation::groups_of(v.predictions);
  Document document("xferbench validate", Trust::of_facts());
  document.add(Sentence{.text = headline(v), .strong = true});
  document.add(table_of(groups, v.predictions), true);
  std::vector<std::string> sentences = choices(groups);
  sentences.insert(sentences.end(), v.left_out.begin(), v.left_out.end());
  if (!sentences.empty()) document.add(List(sentences, Tone::plain, 0), true);
  return document;
}

}  // namespace xferbench

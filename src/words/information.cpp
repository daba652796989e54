#include "words/information.hpp"

#include <algorithm>
#include <iterator>

#include "paper/text.hpp"
#include "words/machine.hpp"

namespace xferbench {

namespace {

/// Adds texts with a name before each. A terminal shows them as lines, which are wrapped at a readable width if
/// `is_long`; other formats show a table.
void add_named(Document& told, const Labels& entries, const std::string& title, std::size_t margin, bool is_long) {
  std::size_t column = 10;
  for (const auto& [name, text] : entries) column = std::max(column, width(name));
  Table table{.header = {"", ""}, .left_columns = 2, .title = title};
  std::string whose;  // the last unindented name, for example "GPU 1"; put before indented names in the table
  for (const auto& [name, text] : entries) {
    told.add(
        Sentence{
            .text = text, .label = std::string(margin, ' ') + padded(name, column, true) + "  ", .is_long = is_long},
        false, Shown::terminal);
    if (!name.starts_with(' '))
      whose = name == "GPU" && text.find(": ") < 3 ? "GPU " + text.substr(0, text.find(':')) : name;
    table.rows.push_back({{name.starts_with(' ') ? whose + name.substr(1) : name, text}});
  }
  told.add(std::move(table), false, Shown::elsewhere);
}

void add(Document& told, const Choices& list, bool apart) {
  if (list.entries.empty()) {
    told.add(Sentence{.text = list.none}, apart);
    return;
  }
  if (!list.title.empty()) told.add(Sentence{.text = list.title}, apart, Shown::terminal);
  add_named(told, list.entries, list.title, list.title.empty() ? 0 : 2, false);
  if (!list.below.empty()) told.add(Sentence{.text = list.below}, true);
}

Labels gpus_of(const MachineFacts& facts) {
  return facts.environment ? gpu_facts(*facts.environment) : Labels{{"GPU", "none: " + facts.no_gpu}};
}

}  // namespace

Document document_of_gpus(const MachineFacts& facts) {
  const bool simulated = facts.environment && facts.environment->simulated();
  Document told(simulated ? "Simulated GPUs" : "GPUs", Trust::of_facts());
  add_named(told, gpus_of(facts), {}, 0, true);
  return told;
}

Document document_of(const MachineFacts& facts) {
  const bool simulated = facts.environment && facts.environment->simulated();
  Document told(simulated ? "Simulated GPUs and this host" : "This machine", Trust::of_facts());
  told.add(Sentence{.text = version_line()});
  Labels all = gpus_of(facts);
  const std::size_t gpus = facts.environment ? facts.environment->gpu_count() : 1;
  std::ranges::copy(host_facts(facts.environment ? facts.environment->host : *facts.host, gpus),
                    std::back_inserter(all));
  add_named(told, all, {}, 0, true);
  add(told, {.title = "simulate:", .entries = facts.profiles}, false);
  return told;
}

Document document_of(const std::vector<Choices>& lists) {
  const std::string title = lists.size() == 1 ? lists.front().title : "";
  Document told(title.empty() ? "Scenarios, sources, sinks and more" : title.substr(0, title.find(':')),
                Trust::of_facts());
  for (const Choices& list : lists) add(told, list, &list != &lists.front());
  return told;
}

}  // namespace xferbench

// What an answer says, whatever shows it: how far it may be trusted, then sentences, tables, lists and matrices in the
// order in which they are read. A document knows nothing of terminals, Markdown or pages; its writers (writers.hpp)
// know nothing of what it is about.
//
//   Document told("xferbench", trust_of(report));
//   told.add(Sentence{.text = "97.4 GB/s, 96 % of the limit", .tone = Tone::bold});
//   told.add(Table{.header = {"dir", "GB/s"}, .left_columns = 1, .rows = {{{"h2d", "55.5"}}}});
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "paper/bars.hpp"
#include "paper/chart.hpp"
#include "paper/matrix.hpp"
#include "paper/ratios.hpp"
#include "paper/table.hpp"
#include "paper/timeline.hpp"

namespace xferbench {

/// How far the numbers of a document may be trusted. No document can be made without one, and all writers show its
/// marks.
struct Trust {
  /// `its_profile`: the one that simulated them; empty of a real GPU. `its_fault`: the one that the simulated device
  /// was given; empty of none.
  Trust(std::string its_profile, bool is_verified, std::string its_fault, bool is_complete)
      : profile(std::move(its_profile)), verified(is_verified), fault(std::move(its_fault)), complete(is_complete) {}

  /// Of a page that shows no measurement: the machine's facts, help.
  static Trust of_facts() { return {{}, true, {}, true}; }

  std::string profile;
  bool verified;
  std::string fault;
  bool complete;
  std::string unverified{};            ///< which of several files; empty: the only one
  std::string incomplete{};            ///< what is said of it, where there is more to say; begins with a mark
  std::string next{};                  ///< how to go on; may be empty
  std::vector<std::string> besides{};  ///< sentences of the same weight

  struct Mark {
    std::string word;  ///< "SIMULATED", "NOT VERIFIED", "FAULT INJECTED": beside the name of what the numbers are of
    std::string said;  ///< behind it
  };
  [[nodiscard]] std::vector<Mark> marks() const;
  [[nodiscard]] std::vector<std::string> words() const;
  /// What is said above all numbers, a sentence for each mark.
  [[nodiscard]] std::vector<std::string> alarms() const;
  /// "INCOMPLETE: not every case has run to its end"; empty of a complete run.
  [[nodiscard]] std::string incomplete_text() const;
};

struct Sentence {
  std::string text;
  Tone tone = Tone::plain;
  bool strong = false;     ///< stands out where there are no colours
  std::string label{};     ///< "do: ": before the text, whose lines all begin behind it
  std::size_t margin = 0;  ///< columns on a terminal
  bool is_long =
      false;  ///< on a terminal in lines of a readable length, whatever the window is; all in a margin of 2 are
  bool goes_on = false;  ///< in the paragraph of the sentence before it, on a line of its own
};

/// What begins a section: what it is about, the marks that its numbers need, and what they have in common.
struct Heading {
  std::string text;
  std::vector<std::string> common{};  ///< "size 256 MiB"
  std::vector<std::string> marks{};   ///< "SIMULATED"
};

struct Item {
  std::string text;
  std::string strong{};  ///< before the text
  std::string code{};    ///< behind it
  std::vector<Sentence> below{};
};

struct List {
  std::string title{};
  std::vector<Item> items{};
  bool numbered = false;
  Tone tone = Tone::plain;
  std::size_t margin = 2;  ///< columns on a terminal

  List() = default;
  explicit List(const std::vector<std::string>& sentences, Tone its_tone = Tone::plain, std::size_t its_margin = 2);
};

struct Part;

/// What is not read at once: open on a terminal, to be opened elsewhere.
struct Fold {
  std::string title;
  std::vector<Part> parts;
};

/// Which of the writers show a part: bits for each of them.
enum class Shown : unsigned {
  terminal = 1,
  markdown = 2,
  pages = 4,
  elsewhere = markdown | pages,
  texts = terminal | markdown,  ///< in the place of what is drawn on pages
  coloured = terminal | pages,
  everywhere = terminal | markdown | pages,
};
constexpr bool is_shown(Shown by, Shown where) {
  return (static_cast<unsigned>(by) & static_cast<unsigned>(where)) != 0;
}

/// What only pages draw.
template <class Content>
concept Drawing = std::is_same_v<Content, Chart> || std::is_same_v<Content, Bars> ||
    std::is_same_v<Content, Timeline> || std::is_same_v<Content, Ratios>;

struct Part {
  std::variant<Sentence, Heading, Table, Matrix, List, Fold, Chart, Bars, Timeline, Ratios> content;
  bool apart = false;  ///< below an empty line, on a terminal; elsewhere all parts are
  Shown shown = Shown::everywhere;
};

struct Document {
  Document(std::string its_title, Trust its_trust) : title(std::move(its_title)), trust(std::move(its_trust)) {}

  std::string title;
  std::string about{};  ///< what tells it from others of its title, in a browser's tabs
  Trust trust;
  std::vector<Part> parts{};

  template <class Content>
  void add(Content content, bool apart = false, Shown shown = Shown::everywhere) {
    parts.push_back({std::move(content), apart, shown});
  }
};

}  // namespace xferbench

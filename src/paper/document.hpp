// The contents of a report, independent of the output format: how far the numbers can be trusted, then sentences,
// tables, lists and matrices in reading order. A document knows nothing of terminals, Markdown or HTML; the functions
// that write it (writers.hpp) know nothing of its subject.
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

/// How far the numbers of a document can be trusted. Every document needs a Trust; all formats show its marks.
struct Trust {
  /// `its_profile`: device profile that simulated the numbers; empty for a real GPU. `its_fault`: fault injected into
  /// the simulated device; empty for none.
  Trust(std::string its_profile, bool is_verified, std::string its_fault, bool is_complete)
      : profile(std::move(its_profile)), verified(is_verified), fault(std::move(its_fault)), complete(is_complete) {}

  /// Returns the Trust of a document without measurements, such as machine facts or help.
  static Trust of_facts() { return {{}, true, {}, true}; }

  std::string profile;
  bool verified;
  std::string fault;
  bool complete;
  std::string unverified{};  ///< name of the unverified file, if the document covers several files
  std::string incomplete{};  ///< replaces the standard text of incomplete_text(); has the form "MARK: explanation"
  std::string next{};        ///< how to continue an incomplete run, for example a command; may be empty
  std::vector<std::string> besides{};  ///< further warnings, one sentence each, to show with the marks

  struct Mark {
    std::string word;  ///< for example "SIMULATED"; shown next to the name of what was measured
    std::string said;  ///< explanation after the word
  };
  [[nodiscard]] std::vector<Mark> marks() const;
  [[nodiscard]] std::vector<std::string> words() const;
  /// Warnings to print before the first number: one sentence for each of marks(), then those in `besides`.
  [[nodiscard]] std::vector<std::string> alarms() const;
  /// Returns for example "INCOMPLETE: not all cases were completed"; empty for a complete run.
  [[nodiscard]] std::string incomplete_text() const;
};

struct Sentence {
  std::string text;
  Tone tone = Tone::plain;
  bool strong = false;     ///< emphasized where there are no colours
  std::string label{};     ///< text before the sentence, for example "do: "; all lines are indented to its end
  std::size_t margin = 0;  ///< indentation in columns on a terminal
  bool is_long = false;    ///< on wide terminals, wrap at a readable width; implied by a margin of 2
  bool goes_on = false;    ///< begins a new line within the paragraph of the previous sentence
};

struct Heading {
  std::string text;
  std::vector<std::string> common{};  ///< axis values of all numbers in the section: "size 256 MiB"
  std::vector<std::string> marks{};   ///< words of Trust::marks(), for example "SIMULATED"
};

struct Item {
  std::string text;
  std::string strong{};  ///< emphasized, before the text
  std::string code{};    ///< in code style, after the text
  std::vector<Sentence> below{};
};

struct List {
  std::string title{};
  std::vector<Item> items{};
  bool numbered = false;
  Tone tone = Tone::plain;
  std::size_t margin = 2;  ///< indentation in columns on a terminal

  List() = default;
  explicit List(const std::vector<std::string>& sentences, Tone its_tone = Tone::plain, std::size_t its_margin = 2);
};

struct Part;

/// Content that HTML and Markdown show collapsed below its title, and terminals always show.
struct Fold {
  std::string title;
  std::vector<Part> parts;
};

/// Set of output formats that show a part of a document; one bit each.
enum class Shown : unsigned {
  terminal = 1,
  markdown = 2,
  pages = 4,
  elsewhere = markdown | pages,
  texts = terminal | markdown,  ///< for text that replaces a drawing, because only HTML pages have drawings
  coloured = terminal | pages,
  everywhere = terminal | markdown | pages,
};
constexpr bool is_shown(Shown by, Shown where) {
  return (static_cast<unsigned>(by) & static_cast<unsigned>(where)) != 0;
}

/// Content that only HTML pages draw.
template <class Content>
concept Drawing = std::is_same_v<Content, Chart> || std::is_same_v<Content, Bars> ||
    std::is_same_v<Content, Timeline> || std::is_same_v<Content, Ratios>;

struct Part {
  std::variant<Sentence, Heading, Table, Matrix, List, Fold, Chart, Bars, Timeline, Ratios> content;
  bool apart = false;  ///< on a terminal, an empty line precedes the part; other formats always separate parts
  Shown shown = Shown::everywhere;
};

struct Document {
  Document(std::string its_title, Trust its_trust) : title(std::move(its_title)), trust(std::move(its_trust)) {}

  std::string title;
  std::string about{};  ///< appended to the title of the browser tab, to distinguish documents of the same title
  Trust trust;
  std::vector<Part> parts{};

  template <class Content>
  void add(Content content, bool apart = false, Shown shown = Shown::everywhere) {
    parts.push_back({std::move(content), apart, shown});
  }
};

}  // namespace xferbench

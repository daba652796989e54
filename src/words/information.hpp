// The documents that `xferbench info` and `xferbench list` print. These commands measure nothing.
#pragma once

#include "paper/document.hpp"
#include "results/json.hpp"

namespace xferbench {

/// A list of names that can be used in commands, each with its description.
struct Choices {
  std::string title{};  ///< title; if empty, names begin at the first column of a terminal
  Labels entries{};
  std::string none{};   ///< the text if there are no entries
  std::string below{};  ///< hint below the list; may be empty
};

Document document_of(const MachineFacts& facts);
Document document_of_gpus(const MachineFacts& facts);
Document document_of(const std::vector<Choices>& lists);

}  // namespace xferbench

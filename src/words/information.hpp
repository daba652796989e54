// What `xferbench info` and `xferbench list` print; they measure nothing.
#pragma once

#include <string>
#include <vector>

#include "paper/document.hpp"
#include "results/json.hpp"

namespace xferbench {

/// A list of names that can be given, each with its description.
struct Choices {
  std::string title{};  ///< may be empty: then names begin their lines
  Labels entries{};
  std::string none{};   ///< the text if there are no entries
  std::string below{};  ///< a hint below the list; may be empty
};

Document document_of(const MachineFacts& facts);
/// A document about the GPUs only.
Document document_of_gpus(const MachineFacts& facts);
Document document_of(const std::vector<Choices>& lists);

}  // namespace xferbench

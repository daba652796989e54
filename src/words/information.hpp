// What `xferbench info` and `xferbench list` say, which measure nothing.
#pragma once

#include <string>
#include <vector>

#include "paper/document.hpp"
#include "results/json.hpp"

namespace xferbench {

/// Names that can be given, each with what is behind it.
struct Choices {
  std::string title{};  ///< may be empty: then names begin their lines
  Labels entries{};
  std::string none{};   ///< what is said where there are no entries
  std::string below{};  ///< how to go on; may be empty
};

Document document_of(const MachineFacts& facts);
/// Of its GPUs alone.
Document document_of_gpus(const MachineFacts& facts);
Document document_of(const std::vector<Choices>& lists);

}  // namespace xferbench

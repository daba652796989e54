// What one run measures once and several of its cases use.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <string>

namespace xferbench {

class Memo {
 public:
  /// What `make` returned when it was first asked for under this key, which also stands for its type.
  template <class T>
  const T& remember(const std::string& key, const std::function<T()>& make) {
    auto found = values_.find(key);
    if (found == values_.end()) found = values_.emplace(key, make()).first;
    return *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::string, std::any> values_;
};

}  // namespace xferbench

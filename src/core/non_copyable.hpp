// A base of classes whose objects are neither copied nor moved.
#pragma once

namespace xferbench {

/// For objects whose address others hold, or whose destructor has an effect that must happen once.
class NonCopyable {
 public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;

 protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

}  // namespace xferbench

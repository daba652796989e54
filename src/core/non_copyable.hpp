// A base class that makes derived classes neither copyable nor movable.
#pragma once

namespace xferbench {

/// For classes whose objects are referred to by address, or whose destructor has an effect that must happen only once.
class NonCopyable {
 public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;

 protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

}  // namespace xferbench

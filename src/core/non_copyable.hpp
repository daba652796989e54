// A base of classes whose objects are neither copied nor moved.
#pragma once

namespace xferbench {

/// There is one of each object, in its place: others hold its address, or its end does something that is done once.
class NonCopyable {
 public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;

 protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

}  // namespace xferbench

// Who owns what a backend made: one move-only owner for streams, events, graphs, gates and memory alike.
#pragma once

#include <memory>
#include <utility>

namespace xferbench {

class Device;

/// What a backend keeps for an owner. Destroying it gives it back; that never throws, because the only errors left then
/// are those of a context that is already lost, which the case that lost it has reported.
class Resource {
 public:
  Resource() = default;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  virtual ~Resource() = default;
};

/// A resource of one device, which outlives it.
class DeviceResource : public Resource {
 public:
  explicit DeviceResource(Device& device) : device_(device) {}
  [[nodiscard]] Device& device() const { return device_; }

 private:
  Device& device_;
};

/// Owns one resource and can do what a view of it can: a View is cheap to copy and owns nothing. Whoever takes a view
/// can be given an owner. The only move implementation there is.
template <class View>
class Owned : public View {
 public:
  Owned() = default;
  Owned(const View& view, std::unique_ptr<Resource> resource) : View(view), resource_(std::move(resource)) {}
  Owned(Owned&& other) noexcept : View(std::exchange(other.view(), View{})), resource_(std::move(other.resource_)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(view(), other.view());
    std::swap(resource_, other.resource_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() = default;

  /// Whether there is anything to give back.
  explicit operator bool() const { return resource_ != nullptr; }

 private:
  View& view() { return *this; }

  std::unique_ptr<Resource> resource_;
};

/// The owner of what a backend has just made.
template <class View, class Impl>
Owned<View> owned(std::unique_ptr<Impl> impl) {
  const View view(*impl);
  return {view, std::move(impl)};
}

}  // namespace xferbench

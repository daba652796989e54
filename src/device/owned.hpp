// Who owns what a backend made, and views of it: one of each for streams, events, graphs, gates and memory alike.
#pragma once

#include <memory>
#include <utility>

#include "core/non_copyable.hpp"

namespace xferbench {

class Device;

/// What a backend keeps for an owner. Destroying it gives it back; that never throws, because the only errors left then
/// are those of a context that is already lost, which the case that lost it has reported.
class Resource : NonCopyable {
 public:
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

/// Sees a resource, is cheap to copy and owns nothing. What can be done with the resource is up to those who derive
/// from it.
template <class Impl>
class View {
 public:
  View() = default;
  explicit View(Impl& impl) : impl_(&impl) {}
  [[nodiscard]] Device& device() const { return impl_->device(); }
  [[nodiscard]] Impl& impl() const { return *impl_; }
  friend bool operator==(const View&, const View&) = default;

 private:
  Impl* impl_ = nullptr;
};

/// Owns one resource and can do what a view of it can. Whoever takes a view can be given an owner. The only move
/// implementation there is.
template <class SomeView>
class Owned : public SomeView {
 public:
  Owned() = default;
  Owned(const SomeView& view, std::unique_ptr<Resource> resource) : SomeView(view), resource_(std::move(resource)) {}
  Owned(Owned&& other) noexcept
      : SomeView(std::exchange(other.view(), SomeView{})), resource_(std::move(other.resource_)) {}
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
  SomeView& view() { return *this; }

  std::unique_ptr<Resource> resource_;
};

/// The owner of what a backend has just made.
template <class SomeView, class Impl>
Owned<SomeView> owned(std::unique_ptr<Impl> impl) {
  const SomeView view(*impl);
  return {view, std::move(impl)};
}

}  // namespace xferbench

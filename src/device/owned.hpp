// Ownership of backend objects and views of them; the same templates serve streams, events, graphs, gates and memory.
#pragma once

#include <memory>
#include <utility>

#include "core/non_copyable.hpp"

namespace xferbench {

class Device;

/// Base class of backend objects. The destructor releases the object and never throws. The release can fail only if the
/// context is lost, and the case that lost the context has already reported this.
class Resource : NonCopyable {
 public:
  virtual ~Resource() = default;
};

/// A resource of one device. The device must outlive it.
class DeviceResource : public Resource {
 public:
  explicit DeviceResource(Device& device) : device_(device) {}
  [[nodiscard]] Device& device() const { return device_; }

 private:
  Device& device_;
};

/// A non-owning, cheap-to-copy reference to a resource. Derived classes add the operations.
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

/// Move-only, unique owner of a resource, usable wherever a view is expected.
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

  explicit operator bool() const { return resource_ != nullptr; }

 private:
  SomeView& view() { return *this; }

  std::unique_ptr<Resource> resource_;
};

/// Wraps a newly created backend object in its owner.
template <class SomeView, class Impl>
Owned<SomeView> owned(std::unique_ptr<Impl> impl) {
  const SomeView view(*impl);
  return {view, std::move(impl)};
}

}  // namespace xferbench

// The gate: holds streams until the host opens it, so that submission cost stays out of a timed region.
#pragma once

#include "device/owned.hpp"
#include "device/stream.hpp"

namespace xferbench {

/// What a backend makes of a gate; see GateView for what the operations mean.
class GateImpl : public Resource {
 public:
  virtual void close(StreamImpl& stream) = 0;
  virtual void open() noexcept = 0;
  [[nodiscard]] virtual bool timed_out() const = 0;
};

class GateView {
 public:
  GateView() = default;
  explicit GateView(GateImpl& gate) : impl_(&gate) {}

  /// Everything enqueued to `stream` after this waits for open(). One gate can hold several streams, of several
  /// devices; the first that it holds after it was open arms it anew.
  void close(StreamView stream) const { impl_->close(stream.impl()); }
  /// Lets go of all streams. A gate that holds none stays as it is.
  void open() const noexcept { impl_->open(); }
  /// Whether it gave up waiting for open() since it was armed. Valid once its streams have passed it.
  [[nodiscard]] bool timed_out() const { return impl_->timed_out(); }

 private:
  GateImpl* impl_ = nullptr;
};

/// Opens when it is destroyed: nothing must be held by what nobody can open.
using Gate = Owned<GateView>;

}  // namespace xferbench

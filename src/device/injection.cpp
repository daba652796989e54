#include "device/injection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"

namespace xferbench {

namespace {

bool can_hit(InjectedFault::Effect effect, CallKind kind) {
  if (effect == InjectedFault::Effect::flip) return kind == CallKind::copy;
  return effect == InjectedFault::Effect::hang || effect == InjectedFault::Effect::die || may_throw(kind);
}

std::vector<std::string_view> kinds_for(InjectedFault::Effect effect) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < texts_of(CallKind{}).size(); ++i) {
    if (can_hit(effect, static_cast<CallKind>(i))) names.push_back(texts_of(CallKind{})[i]);
  }
  return names;
}

[[noreturn]] void refuse(std::string_view text, const std::string& expected) {
  throw UsageError(fmt::format("'{}', expected EFFECT:CALL:N, as in hang:launch:5: {}", text, expected));
}

}  // namespace

InjectedFault parse_fault(std::string_view text) {
  const auto first = std::min(text.find(':'), text.size());
  const auto second = std::min(text.find(':', std::min(first + 1, text.size())), text.size());
  const auto part = [text](std::size_t begin, std::size_t end) {
    return begin < end ? text.substr(begin, end - begin) : std::string_view();
  };
  InjectedFault fault;
  const auto effects = texts_of(InjectedFault::Effect{});
  const auto effect = std::ranges::find(effects, part(0, first));
  if (effect == effects.end()) refuse(text, fmt::format("EFFECT is one of {}", fmt::join(effects, ", ")));
  fault.effect = static_cast<InjectedFault::Effect>(effect - effects.begin());
  const auto kinds = texts_of(CallKind{});
  const auto kind = std::ranges::find(kinds, part(first + 1, second));
  if (kind == kinds.end() || !can_hit(fault.effect, static_cast<CallKind>(kind - kinds.begin()))) {
    refuse(text, fmt::format("CALL is one of {}", fmt::join(kinds_for(fault.effect), ", ")));
  }
  fault.kind = static_cast<CallKind>(kind - kinds.begin());
  const std::string_view number = part(second + 1, text.size());
  const char* const end = number.data() + number.size();
  const auto [stopped, error] = std::from_chars(number.data(), end, fault.nth);
  if (number.empty() || error != std::errc() || stopped != end || fault.nth == 0) {
    refuse(text, "N is a whole number of 1 or more");
  }
  return fault;
}

std::optional<InjectedFault> fault_from_environment() {
  const char* const text = std::getenv(kInjectVariable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  try {
    return parse_fault(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} is {}; unset it to measure without a fault", kInjectVariable, error.what()));
  }
}

void FaultInjector::prepare(Machine& machine) {
  constexpr double kForEver = 1e9;  // seconds
  real_ = !machine.device().capabilities().environment.simulated();
  several_ = machine.devices().size() > 1;
  if (real_ && fault_.effect == InjectedFault::Effect::hang) gate_ = machine.make_gate(kForEver);
}

void FaultInjector::hang(const DeviceCall& call) {
  if (gate_ && call.stream != nullptr) return gate_.close(StreamView(*call.stream));
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// Whether the call's device was lost. If one of several devices is lost, only calls of that device fail.
bool FaultInjector::is_lost(const DeviceCall& call) const {
  return lost_.load(std::memory_order_acquire) && (lost_device_ == nullptr || lost_device_ == call.device);
}

bool FaultInjector::is_counted(const DeviceCall& call) const {
  return fault_.kind ? call.kind == *fault_.kind : may_throw(call.kind);
}

/// For Effect::flip: inverts a bit of the copied data, in the copy's stream after the copy. The byte lies shortly after
/// a MiB boundary, because simulated machines move only the first bytes of each MiB of a large copy.
void FaultInjector::submitted(const DeviceCall& call) {
  constexpr std::size_t kPayload = 4096;  // bytes; smaller copies carry results, not payload
  if (fault_.effect != InjectedFault::Effect::flip || !is_counted(call) || call.copies.empty()) return;
  if (calls_ < fault_.nth || !moving_ || call.stream == nullptr || call.copies.front().bytes < kPayload) return;
  if (flipped_.exchange(true)) return;
  constexpr std::size_t kStretch = std::size_t{1} << 20;
  constexpr std::size_t kWithin = 100;
  const Copy& copy = call.copies.front();
  const std::size_t most = copy.bytes - 1;
  const std::size_t offset = copy.bytes < 2 * kStretch ? most / 2 : most * 5 / 8 / kStretch * kStretch + kWithin;
  hit_ = call.kind;
  call.stream->flip(copy.destination + offset);
}

void FaultInjector::enter(const DeviceCall& call) {
  if (is_lost(call)) {
    if (!may_throw(call.kind) && call.kind != CallKind::usable) return;
    throw DeviceError(std::string(to_text(call.kind)), "the device was lost by an injected fault");
  }
  if (!is_counted(call)) return;
  if (calls_.fetch_add(1) + 1 != fault_.nth || fault_.effect == InjectedFault::Effect::flip) return;
  hit_ = call.kind;
  if (fault_.effect == InjectedFault::Effect::die) std::raise(SIGKILL);
  if (fault_.effect == InjectedFault::Effect::hang) return hang(call);
  if (fault_.effect == InjectedFault::Effect::lose) {
    if (real_ && call.stream != nullptr) return call.stream->stamp(nullptr);  // a write to a null pointer on the GPU
    if (several_) lost_device_ = call.device;
    lost_ = true;
  }
  throw DeviceError(std::string(to_text(call.kind)), "injected fault");
}

}  // namespace xferbench

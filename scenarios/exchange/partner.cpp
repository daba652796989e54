#include "scenarios/exchange/partner.hpp"

#include <fmt/format.h>

#include <utility>

namespace xferbench {

namespace {

constexpr int kPartnerTag = 101;

}  // namespace

std::vector<double> Partner::exchange(const std::vector<double>& mine) {
  struct Both {
    std::vector<double> mine;
    std::vector<double> other;
  };
  auto both = std::make_shared<Both>(Both{mine, std::vector<double>(mine.size())});
  try {
    const PendingPtr received =
        fleet_.ranks.receive(rank_, kPartnerTag, std::as_writable_bytes(std::span(both->other)));
    const PendingPtr sent = fleet_.ranks.send(rank_, kPartnerTag, std::as_bytes(std::span(both->mine)));
    const std::string what = fmt::format("synchronizing with rank {}", rank_);
    wait_for(*sent, fleet_.timeout, what);
    wait_for(*received, fleet_.timeout, what);
  } catch (...) {
    failed_ = true;
    fleet_.ranks.keep(both);
    throw;
  }
  return std::move(both->other);
}

std::vector<double> Partner::swap(const std::vector<double>& mine) {
  agree(true);  // throws if the other rank has failed, because it then sends its failure instead of data
  return exchange(mine);
}

std::vector<double> Partner::largest(const std::vector<double>& mine) {
  std::vector<double> all = swap(mine);
  std::ranges::transform(all, mine, all.begin(), [](double a, double b) { return std::max(a, b); });
  return all;
}

void Partner::agree(bool mine) {
  if (failed_) return;
  const std::exception_ptr put_off = std::exchange(put_off_, nullptr);
  const bool fine = mine && !put_off;
  const bool other = exchange({fine ? 1.0 : 0.0}).front() > 0;
  failed_ = !fine || !other;
  if (put_off) std::rethrow_exception(put_off);
  if (fine && !other) {
    throw PartnerFailedError(
        fmt::format("rank {}, the partner of this exchange, failed; its result gives the reason", rank_));
  }
}

void Partner::within_pass(const std::function<void()>& work) {
  try {
    work();
  } catch (const CommunicationError&) {
    throw;
  } catch (...) {
    if (!put_off_) put_off_ = std::current_exception();
  }
}

void Partner::together(const std::function<void()>& work) {
  std::exception_ptr own;
  try {
    work();
  } catch (const CommunicationError&) {
    failed_ = true;
    throw;
  } catch (...) {
    own = std::current_exception();
  }
  agree(own == nullptr);
  if (own) std::rethrow_exception(own);
}

}  // namespace xferbench

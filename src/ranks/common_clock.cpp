#include "ranks/common_clock.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

namespace xferbench {

namespace {

constexpr int kClockTag = Communicator::kOwnTags + 1;
constexpr int kFirstRoundTrips = 100;
constexpr int kLaterRoundTrips = 10;
constexpr int kFewestRoundTrips = 3;
constexpr double kLongest = 0.05;         // seconds after which learn() begins no further round trip
constexpr std::size_t kMostOffsets = 64;  // older offsets are dropped, because they say little about the current drift

/// A measured clock offset: `x` is the time and `y` the offset, both in seconds and relative to the newest measurement.
/// Small differences have smaller rounding errors than clock readings.
struct Point {
  double x = 0;
  double y = 0;
  double doubt = 0;   // seconds: uncertainty of the offset, plus the largest effect of later changes of the drift
  double weight = 0;  // weight in the fit; all weights add up to 1
};

std::vector<Point> points_of(std::span<const ClockOffset> offsets) {
  const ClockOffset& newest = offsets.back();
  std::vector<Point> points;
  double sum = 0;
  for (const ClockOffset& o : offsets) {
    const double doubt =
        std::max(o.uncertainty + kWander * (newest.at - o.at), 1e-12);  // not 0, because the weight is 1 / doubt^2
    points.push_back({o.at - newest.at, o.offset - newest.offset, doubt, 1 / (doubt * doubt)});
    sum += points.back().weight;
  }
  for (Point& p : points) p.weight /= sum;
  return points;
}

}  // namespace

/// Each result of the least-squares fit (offset and drift) is a weighted sum of the measured offsets. So the error of a
/// result is at most the sum of the offsets' uncertainties, each multiplied by the magnitude of its weight.
ClockLine line_through(std::span<const ClockOffset> offsets) {
  const ClockOffset& newest = offsets.back();
  ClockLine line{newest.at, newest.offset, 0, newest.uncertainty, kLargestDrift};
  const std::vector<Point> points = points_of(offsets);
  double mean = 0;
  double spread = 0;
  for (const Point& p : points) mean += p.weight * p.x;
  for (const Point& p : points) spread += p.weight * (p.x - mean) * (p.x - mean);
  if (!(spread > 0)) return line;
  double drift = 0;
  double drift_doubt = 0;
  double offset = 0;  // offset of the fitted line at the time of the newest offset
  double offset_doubt = 0;
  for (const Point& p : points) {
    const double in_drift = p.weight * (p.x - mean) / spread;
    const double in_offset = p.weight - mean * in_drift;
    drift += in_drift * p.y;
    drift_doubt += std::abs(in_drift) * p.doubt;
    offset += in_offset * p.y;
    offset_doubt += std::abs(in_offset) * p.doubt;
  }
  if (drift_doubt + kWander >= kLargestDrift) return line;
  line.drift = drift;
  line.growth = drift_doubt + kWander;
  if (offset_doubt < line.uncertainty) {
    line.offset += offset;
    line.uncertainty = offset_doubt;
  }
  return line;
}

void CommonClock::synchronise(const Timeout& timeout) {
  const int rank = ranks_.rank();
  if (rank == 0) line_ = {.at = host_.now()};
  const auto size = static_cast<unsigned>(ranks_.size());
  for (int distance = static_cast<int>(std::bit_ceil(size) / 2); distance > 0; distance /= 2) {
    const int place = rank % (2 * distance);
    if (place == 0 && rank + distance < ranks_.size()) teach(rank + distance, timeout);
    if (place == distance) learn(rank - distance, timeout);
  }
}

void CommonClock::teach(int student, const Timeout& timeout) {
  const std::string what = "synchronising clocks with rank " + std::to_string(student);
  do {
    wait_for(*ranks_.receive(student, kClockTag, std::as_writable_bytes(std::span(question_))), timeout, what);
    const double own = host_.now();
    answer_ = {line_.common(own), line_.uncertainty_at(own)};
    wait_for(*ranks_.send(student, kClockTag, std::as_bytes(std::span(answer_))), timeout, what);
  } while (question_[0] == 0);
}

void CommonClock::learn(int teacher, const Timeout& timeout) {
  const int most = offsets_.empty() ? kFirstRoundTrips : kLaterRoundTrips;
  const double begun = host_.now();
  ClockOffset best{.uncertainty = std::numeric_limits<double>::infinity()};
  bool last = false;
  for (int n = 1; !last; ++n) {
    last = n == most || (n >= kFewestRoundTrips && host_.now() - begun > kLongest);
    const ClockOffset offset = round_trip(teacher, last, timeout);
    if (offset.uncertainty < best.uncertainty) best = offset;
  }
  add(best);
}

/// Sends a question to the teacher and receives the teacher's clock reading. The reading was taken at an unknown time
/// of the round trip. The middle of the round trip is taken as this time, which is wrong by at most half the round
/// trip. The uncertainty also includes the drift during the round trip and rounding errors.
ClockOffset CommonClock::round_trip(int teacher, bool last, const Timeout& timeout) {
  const std::string what = "synchronising clocks with rank " + std::to_string(teacher);
  question_ = {last ? 1.0 : 0.0};
  const PendingPtr answer = ranks_.receive(teacher, kClockTag, std::as_writable_bytes(std::span(answer_)));
  const double asked = host_.now();
  const PendingPtr question = ranks_.send(teacher, kClockTag, std::as_bytes(std::span(question_)));
  wait_for(*answer, timeout, what);
  const double answered = host_.now();
  wait_for(*question, timeout, what);
  const double middle = asked + (answered - asked) / 2;
  const double largest = std::max(std::abs(answered), std::abs(answer_[0]));
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * largest;
  return {middle, answer_[0] - middle, answer_[1] + (0.5 + kLargestDrift) * (answered - asked) + rounding};
}

void CommonClock::add(const ClockOffset& offset) {
  if (!offsets_.empty()) {
    const double unexpected = std::abs(offset.offset + offset.at - line_.common(offset.at));
    if (unexpected > offset.uncertainty + line_.uncertainty_at(offset.at)) offsets_.clear();
  }
  if (offsets_.size() == kMostOffsets) offsets_.erase(offsets_.begin());
  offsets_.push_back(offset);
  line_ = line_through(offsets_);
}

}  // namespace xferbench

// Parses Chrome trace files.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace xferbench::test {

struct Track {
  std::string name;
  std::size_t spans = 0;
};

/// Tracks by process and thread. Fails if spans of a track overlap or precede the track's name.
inline std::map<std::pair<int, int>, Track> tracks_of(const nlohmann::json& trace) {
  std::map<std::pair<int, int>, Track> tracks;
  std::map<std::pair<int, int>, double> ends;
  for (const nlohmann::json& e : trace["traceEvents"]) {
    const std::pair<int, int> place{e["pid"], e["tid"]};
    if (e["name"] == "thread_name") tracks[place].name = e["args"]["name"];
    if (e["ph"] != "X") continue;
    EXPECT_TRUE(tracks.contains(place)) << e;
    EXPECT_GE(e["ts"].get<double>(), ends[place] - 1e-6) << e;
    EXPECT_GE(e["dur"].get<double>(), 0) << e;
    ends[place] = e["ts"].get<double>() + e["dur"].get<double>();
    ++tracks[place].spans;
  }
  return tracks;
}

/// Names of the tracks, in order of process and thread.
inline std::vector<std::string> names_of_tracks(const nlohmann::json& trace) {
  std::vector<std::string> names;
  for (const auto& [place, track] : tracks_of(trace)) names.push_back(track.name);
  return names;
}

}  // namespace xferbench::test

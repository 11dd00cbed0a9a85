// What the trace event format asks of a file that Perfetto opens, for tests of those who write one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace graphgate::tools {

// Slices of one track, by their begin, longer ones first.
using TraceTrack = std::vector<std::pair<double, double>>;

inline void expect_nested(TraceTrack slices) {
  std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  std::vector<double> ends;
  for (const auto& [begin, end] : slices) {
    while (!ends.empty() && ends.back() <= begin) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back()) << "a slice that begins at " << begin;
    }
    ends.push_back(end);
  }
}

// The object form: members, phases and what each of them needs; slices of a track nest; counters
// go on in time; flows end in slices; every track has a name.
inline nlohmann::json expect_trace(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  EXPECT_TRUE(json.is_object()) << text.substr(0, 200);
  if (!json.is_object()) return json;
  EXPECT_TRUE(json["displayTimeUnit"] == "ms" || json["displayTimeUnit"] == "ns");
  using Track = std::pair<int, int>;
  std::map<Track, TraceTrack> slices;
  std::map<std::pair<int, std::string>, double> counters;
  std::set<Track> named;
  std::set<int> processes;
  std::map<int, int> begun;
  std::vector<std::pair<Track, double>> flows;
  for (const auto& event : json["traceEvents"]) {
    const std::string phase = event.at("ph").get<std::string>();
    const Track track = {event.at("pid").get<int>(), event.at("tid").get<int>()};
    EXPECT_TRUE(event.at("name").is_string());
    if (phase == "M") {
      const std::string name = event["name"];
      if (name == "process_name") processes.insert(track.first);
      if (name == "thread_name") named.insert(track);
      const bool is_name = name == "process_name" || name == "thread_name";
      EXPECT_TRUE(is_name ? event["args"]["name"].is_string()
                          : event["args"]["sort_index"].is_number_integer())
          << event;
      continue;
    }
    const double time = event.at("ts").get<double>();
    EXPECT_GE(time, 0) << event;
    if (phase == "X") {
      EXPECT_TRUE(event.at("cat").is_string());
      EXPECT_TRUE(event.at("args").is_object());
      EXPECT_GE(event.at("dur").get<double>(), 0) << event;
      slices[track].emplace_back(time, time + event["dur"].get<double>());
    } else if (phase == "C") {
      for (const auto& [series, value] : event.at("args").items()) {
        EXPECT_TRUE(value.is_number()) << event;
        EXPECT_GE(value.get<double>(), 0) << event;
      }
      const auto [last, is_new] = counters.emplace(std::pair(track.first, event["name"]), time);
      EXPECT_TRUE(is_new || last->second < time) << event;
      last->second = time;
    } else {
      EXPECT_TRUE(phase == "s" || phase == "f") << event;
      EXPECT_TRUE(event.at("id").is_number_integer() && event.at("cat").is_string());
      flows.emplace_back(track, time);
    }
  }
  for (const auto& [track, all] : slices) {
    EXPECT_TRUE(named.contains(track)) << track.second;
    EXPECT_TRUE(processes.contains(track.first));
    expect_nested(all);
  }
  for (const auto& [track, time] : flows) {
    const auto& all = slices[track];
    EXPECT_TRUE(std::any_of(
        all.begin(), all.end(),
        [&, at = time](const auto& slice) { return slice.first <= at && at < slice.second; }))
        << "a flow at " << time;
  }
  return json;
}

}  // namespace graphgate::tools

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/soak/soak_report.hpp"
#include "soak/tally.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

using openmetrics::Family;
using openmetrics::Labels;
using openmetrics::Type;

Labels of_gpu(int gpu) { return {{"gpu", fmt::format("{}", gpu)}}; }

Labels of_load(int gpu, SoakLoad load) {
  Labels labels = of_gpu(gpu);
  labels.emplace_back("load", to_text(load));
  return labels;
}

Labels labels_of(const SoakLoadTotals& t) { return of_load(t.gpu, t.load); }
Labels labels_of(const SoakGpu& g) { return of_gpu(g.gpu); }
Labels labels_of(const SoakCounters& c) { return of_gpu(c.gpu); }

/// Returns a metric family with one sample for each GPU, or for each load (kind of work) of each GPU, that has a value.
template <class Record, class Value>
Family of_each(std::string name, Type type, std::string unit, std::string help, const std::vector<Record>& records,
               const Value& value) {
  Family family{std::move(name), type, std::move(unit), std::move(help)};
  for (const Record& record : records) {
    if (const auto v = value(record)) family.samples.push_back({labels_of(record), static_cast<double>(*v)});
  }
  return family;
}

void add_loads(std::vector<Family>& all, const SoakInterval& last) {
  const SoakTotals& totals = last.so_far;
  using T = const SoakLoadTotals&;
  all.push_back(of_each("xferbench_soak_moved", Type::counter, "bytes", "Bytes moved by a load.", totals.loads,
                        [](T t) { return std::optional(t.moved); }));
  all.push_back(of_each("xferbench_soak_verified", Type::counter, "bytes", "Bytes of these that were verified.",
                        totals.loads, [](T t) { return std::optional(t.verified); }));
  Family rate{"xferbench_soak_rate", Type::gauge, "bytes_per_second", "Median rate of a load in the last interval."};
  Family lowest{"xferbench_soak_lowest_rate", Type::gauge, "bytes_per_second",
                "Lowest rate of a load in the last interval."};
  for (const SoakGpu& gpu : last.gpus) {
    for (const SoakRate& r : gpu.rates) {
      rate.samples.push_back({of_load(gpu.gpu, r.load), r.median});
      lowest.samples.push_back({of_load(gpu.gpu, r.load), r.lowest});
    }
  }
  all.push_back(std::move(rate));
  all.push_back(std::move(lowest));
  all.push_back(of_each("xferbench_soak_first_rate", Type::gauge, "bytes_per_second",
                        "Rate of a load in the first minutes, the reference for later rates.", totals.loads,
                        [](T t) { return t.baseline; }));
}

void add_state(std::vector<Family>& all, const SoakInterval& last) {
  using G = const SoakGpu&;
  const auto add = [&](const char* name, const char* unit, const char* help, const auto& value) {
    all.push_back(of_each(name, Type::gauge, unit, help, last.gpus, value));
  };
  add("xferbench_soak_temperature", "celsius", "Temperature of the chip.", [](G g) { return g.health.temperature; });
  add("xferbench_soak_power", "watts", "Power draw of the GPU.", [](G g) { return g.health.power; });
  add("xferbench_soak_sm_clock", "hertz", "Clock rate of the multiprocessors.", [](G g) { return g.clocks.sm; });
  add("xferbench_soak_memory_clock", "hertz", "Clock rate of the memory.", [](G g) { return g.clocks.memory; });
  add("xferbench_soak_link_generation", "", "Current generation of the PCI Express link.",
      [](G g) { return g.health.link_generation; });
  add("xferbench_soak_link_width", "", "Current number of lanes of the PCI Express link.",
      [](G g) { return g.health.link_width; });
}

void add_counters(std::vector<Family>& all, const SoakTotals& totals) {
  using C = const SoakCounters&;
  const auto add = [&](const char* name, const char* help, const auto& value) {
    all.push_back(of_each(name, Type::counter, "", help, totals.counters, value));
  };
  add("xferbench_soak_pcie_replays", "Packets that the link had to resend.", [](C c) { return c.pcie_replays; });
  add("xferbench_soak_ecc_corrected", "Corrected memory errors.", [](C c) { return c.ecc_corrected; });
  add("xferbench_soak_ecc_uncorrected", "Uncorrected memory errors.", [](C c) { return c.ecc_uncorrected; });
  add("xferbench_soak_xids", "Critical errors that the driver reported (Xid).",
      [](C c) { return std::optional(c.xid_count); });
}

}  // namespace

std::vector<Family> soak_metrics(const SoakHeader& header, const SoakInterval& last) {
  const SoakTotals& totals = last.so_far;
  std::vector<Family> all;
  Labels labels{
      {"version", header.tool.version}, {"device", header.environment.gpu.name}, {"started_at", header.started_at}};
  std::ranges::move(openmetrics::labels_of(trust_of(header.environment, true, true)), std::back_inserter(labels));
  all.push_back({"xferbench_soak", Type::info, "", "The tested machine.", {{std::move(labels), 1}}});
  add_loads(all, last);
  add_state(all, last);
  add_counters(all, totals);
  const auto add = [&all](const char* name, Type type, const char* unit, const char* help, double value) {
    all.push_back({name, type, unit, help, {{{}, value}}});
  };
  add("xferbench_soak_wrong", Type::counter, "bytes", "Wrong bytes.", static_cast<double>(totals.wrong_bytes));
  add("xferbench_soak_drops", Type::counter, "",
      "Times that a rate fell below the floor, a share of its rate in the first minutes.",
      static_cast<double>(totals.drop_count));
  add("xferbench_soak_elapsed", Type::gauge, "seconds", "Time since the start of the soak.", last.elapsed);
  add("xferbench_soak_well", Type::gauge, "", "1 as long as the verdict is PASS, else 0.",
      soak::is_healthy(totals) ? 1 : 0);
  add("xferbench_soak_running", Type::gauge, "", "1 while the soak runs, else 0.",
      last.end == SoakEnd::goes_on ? 1 : 0);
  return all;
}

}  // namespace xferbench

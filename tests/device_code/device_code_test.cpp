// What the compiler makes of the kernels: that each method's kernels consist of the instructions the method is named
// for, and that no kernel spills registers. Reads what cmake/device_code.cmake made; needs no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "device_code/ptx.hpp"
#include "device_code/ptxas_report.hpp"

namespace xferbench::ptx {
namespace {

struct File {
  std::string name;  // of "smem_tma" for kernels/smem/smem_tma.cu
  std::vector<Function> functions;
  std::vector<Resources> resources;
};

std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path + "; build the target device_code");
  return {std::istreambuf_iterator<char>(stream), {}};
}

const std::vector<File>& files() {
  static const std::vector<File> all = [] {
    std::vector<File> found;
    std::istringstream names(XFERBENCH_DEVICE_CODE_NAMES);
    for (std::string name; std::getline(names, name, ',');) {
      const std::string path = std::string(XFERBENCH_DEVICE_CODE_FOLDER) + "/" + name;
      found.push_back({name, parse(text_of(path + ".ptx")), parse_report(text_of(path + ".txt"))});
    }
    return found;
  }();
  return all;
}

// --- Instructions ---------------------------------------------------------------------------------------------------

/// What holds for each kernel of a file whose short name matches.
struct Rule {
  std::string_view file;
  std::string kernel;                 // a regular expression of the whole short name
  std::vector<std::string_view> has;  // see Function::has
  std::vector<std::string_view> has_not;
};

/// What a plain kernel does without; a kernel of a file without rules is held to be plain.
const std::vector<std::string_view> kNotPlain{"cp.async", "mbarrier", "cp.reduce.async", "st.async", "red.async"};

constexpr std::string_view kCg = "cp.async.cg.shared.global";
constexpr std::string_view kCa = "cp.async.ca.shared.global";
constexpr std::string_view kBulkLoad = "cp.async.bulk.shared::cluster.global";
constexpr std::string_view kBulkStore = "cp.async.bulk.global.shared::cta";
constexpr std::string_view kTensorLoad = "cp.async.bulk.tensor.2d.shared::cluster.global";
constexpr std::string_view kTensorStore = "cp.async.bulk.tensor.2d.global.shared::cta";
constexpr std::string_view kTryWait = "mbarrier.try_wait";

/// Every kernel of these files has exactly one rule. The size of cp_async_kernel's copies is its last argument.
const std::vector<Rule> kRules{
    {"smem_plain", "direct_kernel\\b.*", {}, kNotPlain},
    {"smem_plain", "sync_kernel\\b.*", {}, kNotPlain},
    {"smem_plain", "prefetch_kernel\\b.*", {}, kNotPlain},
    {"smem_cp_async", "cp_async_kernel<(.*, )?16u?>", {kCg}, {kCa, "cp.async.bulk", "mbarrier"}},
    {"smem_cp_async", "cp_async_kernel<(.*, )?8u?>", {kCa}, {kCg, "cp.async.bulk", "mbarrier"}},
    {"smem_cp_async", "cp_async_kernel<(.*, )?4u?>", {kCa}, {kCg, "cp.async.bulk", "mbarrier"}},
    // The libraries choose between them by the alignment they are promised.
    {"smem_library", "pipeline_kernel\\b.*", {"cp.async.cg|cp.async.ca|cp.async.bulk"}, {"cp.async.bulk.tensor"}},
    {"smem_library", "cg_kernel\\b.*", {"cp.async.cg|cp.async.ca|cp.async.bulk"}, {"cp.async.bulk.tensor"}},
    {"smem_bulk", "bulk_kernel\\b.*", {kBulkLoad, kBulkStore, kTryWait}, {"cp.async.bulk.tensor", kCg, kCa}},
    {"smem_tma", "tma_kernel\\b.*", {kTensorLoad, kTensorStore, kTryWait}, {kBulkLoad, kCg, kCa}},
    {"smem_tma", "specialized_kernel\\b.*", {kTensorLoad, kTensorStore, kTryWait}, {kBulkLoad, kCg, kCa}},
};

/// What is wrong with these files by these rules, a line each; empty if nothing is.
std::string violations(const std::vector<File>& all, const std::vector<Rule>& rules) {
  std::string found;
  std::vector<std::size_t> uses(rules.size());
  for (const File& file : all) {
    const bool has_rules = std::ranges::count(rules, file.name, &Rule::file) > 0;
    for (const Function& function : file.functions) {
      const std::string name = short_name(function.name);
      const std::string who = file.name + ".cu: " + name + " ";
      const auto check = [&](const auto& has, const auto& has_not) {
        for (const std::string_view i : has) {
          if (!function.has(i)) found += who + "lacks " + std::string(i) + "\n";
        }
        for (const std::string_view i : has_not) {
          if (function.has(i)) found += who + "has " + std::string(i) + "\n";
        }
      };
      if (!has_rules) {
        check(std::vector<std::string_view>{}, kNotPlain);
      } else if (!function.is_kernel) {
        found += who + "is no kernel and was not inlined: whose instructions are these?\n";
      } else {
        std::size_t matches = 0;
        for (std::size_t r = 0; r < rules.size(); ++r) {
          if (rules[r].file != file.name || !std::regex_match(name, std::regex(rules[r].kernel))) continue;
          check(rules[r].has, rules[r].has_not);
          ++matches;
          ++uses[r];
        }
        if (matches != 1) found += who + "matches " + std::to_string(matches) + " rules instead of one\n";
      }
    }
  }
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (uses[r] == 0) found += std::string(rules[r].file) + ".cu: no kernel matches " + rules[r].kernel + "\n";
  }
  return found;
}

TEST(InstructionRules, NameWhatIsThereAndShouldNotBeAndTheOtherWayRound) {
  const Function copies{"f", true, {"cp.async.cg.shared.global", "ret"}};
  const Function plain{"g", true, {"ret"}};
  const std::vector<Rule> rules{{"x", "f", {kCg}, {kCa}}, {"x", "g", {}, kNotPlain}};
  EXPECT_EQ(violations({{"x", {copies, plain}, {}}}, rules), "");
  EXPECT_EQ(violations({{"x", {copies, plain}, {}}}, {{"x", "f", {kCa}, {kCg}}, {"x", "g", {}, {}}}),
            "x.cu: f lacks cp.async.ca.shared.global\nx.cu: f has cp.async.cg.shared.global\n");
  EXPECT_EQ(violations({{"other", {copies}, {}}}, {}), "other.cu: f has cp.async\n");
}

TEST(InstructionRules, ConcernEveryKernelOnceAndNoneInVain) {
  const Function kernel{"f", true, {"ret"}};
  EXPECT_EQ(violations({{"x", {kernel}, {}}}, {{"x", "f", {}, {}}, {"x", "g", {}, {}}}), "x.cu: no kernel matches g\n");
  EXPECT_EQ(violations({{"x", {kernel, {"sync_f", true, {}}}, {}}}, {{"x", "f", {}, {}}}),
            "x.cu: sync_f matches 0 rules instead of one\n");
  EXPECT_EQ(violations({{"x", {kernel}, {}}}, {{"x", "f", {}, {}}, {"x", ".*", {}, {}}}),
            "x.cu: f matches 2 rules instead of one\n");
  EXPECT_EQ(violations({{"x", {kernel, {"h", false, {}}}, {}}}, {{"x", ".*", {}, {}}}),
            "x.cu: h is no kernel and was not inlined: whose instructions are these?\n");
  EXPECT_EQ(violations({}, {{"x", "f", {}, {}}}), "x.cu: no kernel matches f\n");
}

TEST(DeviceCode, KernelsConsistOfTheInstructionsTheyAreNamedFor) { EXPECT_EQ(violations(files(), kRules), ""); }

// --- Registers ------------------------------------------------------------------------------------------------------

/// nvcc and the assembler are read by two parsers; a kernel that one of them overlooks would go unchecked.
TEST(DeviceCode, PtxAndReportSpeakOfTheSameKernels) {
  std::size_t kernels = 0;
  for (const File& file : files()) {
    std::vector<std::string> written;
    std::vector<std::string> assembled;
    for (const Function& f : file.functions) {
      if (f.is_kernel) written.push_back(f.name);
    }
    for (const Resources& r : file.resources) {
      if (r.is_kernel) assembled.push_back(r.name);
    }
    std::ranges::sort(written);
    std::ranges::sort(assembled);
    EXPECT_EQ(written, assembled) << file.name;
    kernels += written.size();
  }
  EXPECT_GT(kernels, 0U);
}

std::string spills(const std::vector<File>& all) {
  std::string found;
  for (const File& file : all) {
    for (const Resources& r : file.resources) {
      if (r.spill_stores + r.spill_loads == 0) continue;
      found += file.name + ".cu: " + short_name(r.name) + " spills: " + std::to_string(r.spill_stores) +
               " bytes stored, " + std::to_string(r.spill_loads) + " bytes loaded by each thread\n";
    }
  }
  return found;
}

TEST(Registers, ASpillIsNamed) {
  Resources kernel{.name = "_Z1fIfEvv", .is_kernel = true, .registers = 255};
  EXPECT_EQ(spills({{"x", {}, {kernel}}}), "");
  kernel.spill_stores = 8;
  EXPECT_EQ(spills({{"x", {}, {kernel}}}), "x.cu: f<float> spills: 8 bytes stored, 0 bytes loaded by each thread\n");
}

TEST(DeviceCode, NoKernelSpills) { EXPECT_EQ(spills(files()), ""); }

/// For scripts/registers, and for whoever compares two compilers. Names come last: they contain commas.
TEST(DeviceCode, RegistersAreRecorded) {
  std::vector<std::string> lines;
  for (const File& file : files()) {
    for (const Resources& r : file.resources) {
      if (!r.is_kernel) continue;
      std::ostringstream line;
      line << file.name << ',' << r.registers << ',' << r.barriers << ',' << r.shared << ',' << r.stack << ','
           << r.spill_stores << ',' << r.spill_loads << ",\"" << short_name(r.name) << '"';
      lines.push_back(line.str());
    }
  }
  std::ranges::sort(lines, {}, [](const std::string& line) {
    return std::pair(line.substr(0, line.find(',')), line.substr(line.find('"')));
  });
  const std::string path = std::string(XFERBENCH_DEVICE_CODE_FOLDER) + "/registers.csv";
  std::ofstream out(path);
  out << "file,registers,barriers,shared_bytes,stack_bytes,spill_store_bytes,spill_load_bytes,kernel\n";
  for (const std::string& line : lines) out << line << '\n';
  out.flush();
  EXPECT_TRUE(out) << path;
  EXPECT_FALSE(lines.empty());
}

}  // namespace
}  // namespace xferbench::ptx

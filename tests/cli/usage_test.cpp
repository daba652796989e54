// Invalid commands: exit code 2, one line on standard error with the mistake and a remedy, nothing on standard output.

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

struct Mistake {
  const char* name;
  Arguments arguments;
  const char* message;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class Usage : public testing::TestWithParam<Mistake> {};

TEST_P(Usage, IsRefusedInOneLine) { expect_refusal(xferbench(GetParam().arguments), 2, GetParam().message); }

std::string name_of(const testing::TestParamInfo<Mistake>& info) { return info.param.name; }

// One mistake of each kind. All other messages are tested in tests/unit/command_test.cpp and values_test.cpp.
INSTANTIATE_TEST_SUITE_P(
    Kinds, Usage,
    testing::Values(Mistake{"UnknownScenario", {"memcopy"}, "; did you mean 'memcpy'?"},
                    Mistake{"UnknownFlag", {"--stream", "8"}, "unknown flag --stream; did you mean '--streams'?"},
                    Mistake{"OfAnotherScenario", {"overlap", "--dir", "h2d"}, "has no --dir, which belongs to memcpy"},
                    Mistake{"WithoutItsValue", {"--streams"}, "--streams needs a value"},
                    Mistake{"Contradiction", {"--gpu", "0", "--gpus", "2"}, "--gpu and --gpus contradict each other"},
                    Mistake{"TimelineOfNone", {"memcpy", "--timeline", "x"}, "these scenarios have one: overlap"},
                    Mistake{"QuietError", {"--quiet", "--streams", "0"}, "--streams: 0 is too small"}),
    name_of);

// Values that the scenario or this machine refuses.
INSTANTIATE_TEST_SUITE_P(
    Flags, Usage,
    testing::Values(
        Mistake{"WorkAgainstBalance", {"--work", "4", "--balance", "1"}, "--work"},
        Mistake{"HostMemoryInsideTheGpu",
                {"memcpy", "--dir", "d2d", "--host", "pinned"},
                "--host does nothing here: it belongs to --dir h2d,d2h,bidirectional"},
        Mistake{"StreamsOfEngines",
                {"--strategy", "engines", "--streams", "3"},
                "--streams does nothing here: it belongs to --strategy streams,graph-streams"},
        Mistake{"SlotsOfStreams", {"--slots", "3"}, "--slots does nothing here: it belongs to --strategy engines,"},
        Mistake{"BatchOfEngines", {"--strategy", "engines", "--batch", "8"}, "--batch does nothing here"},
        Mistake{"ChunksOfZeroCopy", {"--strategy", "zero-copy", "--chunks", "8"}, "--chunks does nothing here"},
        Mistake{"GrowthOfSerial", {"--strategy", "serial", "--growth", "1.1"}, "--growth does nothing here"},
        Mistake{"IssueOfGraph", {"--strategy", "graph", "--issue", "breadth"}, "--issue does nothing here"},
        Mistake{"InPlaceMaybe", {"--in-place=maybe"}, "--in-place: 'maybe' is not one of no, yes"},
        Mistake{"GrowthTooSteep", {"--growth", "2.5"}, "--growth: 2.5 is too large; the largest is 2"},
        Mistake{"StreamsTooMany", {"--streams", "100000"}, "--streams: 100000 is too large; the largest is 1024"},
        Mistake{"NumaNoSuchNode", {"--numa", "9999"}, "there is no NUMA node 9999: this machine has"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Cases, Usage,
    testing::Values(
        Mistake{"NoWholeElements",
                {"--simulate", "--size", "4098"},
                "--size 4098B is not a whole number of 4-byte elements"},
        Mistake{"MoreChunksThanElements",
                {"--simulate", "--size", "16", "--chunks", "8"},
                "is more than the 4 elements of --size 16B"},
        Mistake{"FewerSlotsThanABatch",
                {"--simulate", "--strategy", "batch", "--batch", "8", "--slots", "4"},
                "--slots 4 cannot hold a batch of 8 chunks; choose as many slots as --batch, or more"},
        Mistake{"EveryCaseIllegal", {"--simulate", "--size", "16,32", "--chunks", "64,128"}, "choose fewer chunks"},
        Mistake{"MoreCasesThanSense", {"--streams", "1:1000:+1", "--chunks", "1:1000:+1"}, "more than 100000 cases"},
        // Needs twice the size on the device, more than any profile has. The memory of this host does not matter.
        Mistake{"MoreMemoryThanTheDevice",
                {"--simulate", "--strategy", "engines", "--size", "100G"},
                "needs 200 GiB of device memory, 139.7 GiB available"}),
    name_of);

TEST(Usage, WrongCommandLeavesAnExistingResultsFileAsItIs) {
  const TemporaryFolder folder;
  const std::string file = folder / "results.json";
  for (const Arguments& wrong : {Arguments{"--streams", "0"},
                                 {"--strategy", "engines", "--size", "100G"},
                                 {"--size", "16", "--chunks", "8"},
                                 {"--nosuch"},
                                 {"--dir", "h2d"}}) {
    write_file(file, "precious\n");
    Arguments arguments = {"--simulate", "--json", file};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(xferbench(arguments).exit_code, 2) << wrong.front();
    EXPECT_EQ(read_file(file), "precious\n") << wrong.front();
  }
}

TEST(Usage, WrongCommandLeavesNoResultsFileBehind) {
  const TemporaryFolder folder;
  for (const char* size : {"0", "100G"}) {
    EXPECT_EQ(
        xferbench({"--simulate", "--strategy", "engines", "--size", size, "--json", folder / "results.json"}).exit_code,
        2);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << size;
  }
}

TEST(Usage, HelpWinsOverTheRestOfTheCommand) { expect_success(xferbench({"--streams", "0", "--help"})); }

}  // namespace
}  // namespace xferbench::test

// Commands that ask for what does not exist or contradicts itself: exit code 2, one line that says what is wrong and
// what to do, nothing on standard output.
#include <gtest/gtest.h>

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

INSTANTIATE_TEST_SUITE_P(
    Words, Usage,
    testing::Values(Mistake{"UnknownScenario", {"memcopy"}, "; did you mean 'memcpy'?"},
                    Mistake{
                        "ScenarioUnlikeAny", {"zzzzzzzz"}, "unknown scenario 'zzzzzzzz'; there are overlap, memcpy, "},
                    Mistake{"SecondScenarioUnknown", {"memcpy", "overlop"}, "did you mean 'overlap'?"},
                    Mistake{"EmptyWord", {""}, "unknown scenario ''"},
                    Mistake{"InfoTakesNoScenario", {"info", "overlap"}, "info does not take 'overlap'"},
                    Mistake{"ListTakesOneScenario", {"list", "overlap", "memcpy"}, "list takes one scenario at most"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Flags, Usage,
    testing::Values(
        Mistake{"Unknown", {"--stream", "8"}, "unknown flag --stream; did you mean '--streams'?"},
        Mistake{"UnknownWithValue", {"--sise=4K"}, "unknown flag --sise; did you mean '--size'?"},
        Mistake{"UnknownShort", {"-x"}, "unknown flag -x"},
        Mistake{"OfAnotherScenario", {"overlap", "--dir", "h2d"}, "overlap has no --dir, which belongs to memcpy"},
        Mistake{"OfAnotherScenarioThanTheDefault", {"--dir", "h2d"}, "overlap has no --dir"},
        Mistake{"WithoutItsValue", {"--streams"}, "--streams needs a value"},
        Mistake{"WithoutItsValueBeforeAnother", {"--simulate", "--json", "--quiet"}, "--json: needs a value"},
        Mistake{"EmptyAfterEquals", {"--simulate="}, "--simulate needs a value"},
        Mistake{"JsonWithEmptyFile", {"--simulate", "--json", ""}, "--json: needs a value"},
        Mistake{"WorkAgainstBalance", {"--work", "4", "--balance", "1"}, "--work"},
        Mistake{"GpuAgainstSimulate", {"--gpu", "0", "--simulate"}, "--gpu and --simulate contradict each other"},
        Mistake{"JsonAgainstDryRun", {"--dry-run", "--json", "x.json"}, "--json and --dry-run contradict each other"},
        Mistake{"NumaAgainstSimulate", {"--numa", "0", "--simulate"}, "--numa and --simulate contradict each other"},
        Mistake{"ListTakesNoJson", {"list", "--json", "x.json"}, "list does not take --json"},
        Mistake{"InfoTakesNoAxis", {"info", "--streams", "8"}, "info does not take --streams"},
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
        Mistake{"MinimumAboveMaximum",
                {"--min-samples", "20", "--max-samples", "10"},
                "--min-samples 20 is more than --max-samples 10"},
        Mistake{"RunFlagTwice", {"--gpu", "0", "--gpu", "1"}, "--gpu is given more than once"},
        Mistake{"ValueForASwitch", {"--quiet=5"}, "--quiet takes no value"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Values, Usage,
    testing::Values(
        Mistake{"UnknownWord",
                {"--kernel", "fna"},
                "--kernel: 'fna' is not one of fma, vector-add, sincos; did you mean 'fma'?"},
        Mistake{"UnknownWordInAList", {"memcpy", "--dir", "h2d,h2x"}, "--dir: 'h2x' is not one of"},
        Mistake{"InPlaceMaybe", {"--in-place=maybe"}, "--in-place: 'maybe' is not one of no, yes"},
        Mistake{"GrowthTooSteep", {"--growth", "2.5"}, "--growth: 2.5 is too large; the largest is 2"},
        Mistake{"StrategyMisspelt", {"--strategy", "double-bufer"}, "did you mean 'double-buffer'?"},
        Mistake{"UnknownColor", {"--color", "alwys"}, "did you mean 'always'?"},
        Mistake{"UnknownProfile", {"--simulate", "h100"}, "--simulate: 'h100' is not one of h200, h200-one-engine"},
        Mistake{"SizeZero", {"--size", "0"}, "--size: '0' is not a positive size"},
        Mistake{"SizeNegative", {"--size", "-5"}, "--size: '-5' is not a positive size"},
        Mistake{"SizeNoNumber", {"--size", "abc"}, "--size: 'abc' is not a size"},
        Mistake{"SizeUnknownUnit", {"--size", "12Q"}, "unknown unit 'Q'"},
        Mistake{"SizeBeyondEveryMachine", {"--size", "99999999999999999999"}, "too large"},
        Mistake{"SizeWithExponent", {"--size", "1e5"}, "--size: '1e5' is not a size"},
        Mistake{"SizeNotANumber", {"--size", "nan"}, "--size: 'nan' is not a size"},
        Mistake{"SizeEmpty", {"--size", ""}, "--size: needs a value"},
        Mistake{"SizeEmptyInAList", {"--size", "4K,,8K"}, "--size: a value is missing"},
        Mistake{"SizeHalfAByte", {"--size", "0.5"}, "not a whole number of bytes"},
        Mistake{"RangeBackwards", {"--streams", "8:4"}, "--streams: the range 8:4 ends before it begins"},
        Mistake{"RangeThatNeverEnds", {"--streams", "1:8:x1"}, "never reaches its end"},
        Mistake{"RangeWithoutASign", {"--streams", "1:8:2"}, "must begin with x or +"},
        Mistake{"ChunksZero", {"--chunks", "0"}, "--chunks: 0 is too small; the smallest is 1"},
        Mistake{"StreamsFraction", {"--streams", "2.5"}, "--streams: '2.5' is not a whole number"},
        Mistake{"StreamsTooMany", {"--streams", "100000"}, "--streams: 100000 is too large; the largest is 1024"},
        Mistake{"StreamsBeyondEveryNumber", {"--streams", "99999999999999999999"}, "--streams"},
        Mistake{"GpuNegative", {"--gpu", "-1"}, "--gpu"}, Mistake{"GpuList", {"--gpu", "0,1"}, "--gpu takes one value"},
        Mistake{
            "NumaUnknownWord", {"--numa", "locl"}, "--numa: 'locl' is not local, none or the number of a NUMA node"},
        Mistake{"NumaNegative", {"--numa", "-1"}, "--numa: '-1' is not local, none or the number of a NUMA node"},
        Mistake{"NumaNoSuchNode", {"--numa", "9999"}, "there is no NUMA node 9999: this machine has"},
        Mistake{"IntervalZero", {"--ci", "0"}, "--ci: 0 is too small"},
        Mistake{"BudgetNegative", {"--budget", "-1"}, "--budget: -1 is too small"},
        Mistake{"BudgetNoNumber", {"--budget", "long"}, "--budget: 'long' is not a number"},
        Mistake{"SamplesZero", {"--max-samples", "0"}, "--max-samples: 0 is too small"}),
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
        // Twice the size on the device is more than any profile has; how much this host has does not matter.
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

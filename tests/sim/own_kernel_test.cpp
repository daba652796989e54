// Kernels of users on the simulated device, which runs a stand-in of the same shape. Chunked results must equal those
// in one piece; missing waits and kernels that cannot be chunked must be noticed.

#include <array>
#include <cstring>
#include <sstream>

#include "kernels/own_kernel.hpp"
#include "run/tuner.hpp"
#include "scenarios/common/chunked_work.hpp"
#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

Words command_of(const std::string& line, const std::string& kernel = "sobel") {
  Words words;
  std::istringstream text(line);
  for (std::string word; text >> word;) words.push_back(word);
  for (const std::string& word : flags_of_kernel(kernel)) words.push_back(word);
  return words;
}

/// 37 rows of 250 floats: no power of two anywhere.
const std::string kRows = "overlap --size 37000 --row-bytes 1000 --halo-rows 2 ";

std::vector<Result> run(sim::SimMachine& machine, const Words& command) {
  return run_all(cases_of(command), quick_bench(machine.device()));
}

/// The reason why the case is refused or skipped; empty if it runs.
std::string reason_of(const Words& command, const Capabilities* can = nullptr) {
  try {
    const auto planned = cases_of(command).front();
    const auto reason = planned.scenario->skip_reason(planned.config, can);
    return reason ? reason->text : "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

class OwnKernels : public OnSim {
 protected:
  std::vector<Result> run_ok(const Words& command) {
    std::vector<Result> results = OnSim::run(command);
    for (const Result& r : results) EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
    return results;
  }
};

// --- Results --------------------------------------------------------------------------------------------------------

TEST_F(OwnKernels, ComeToTheSameHoweverTheyAreCutAndArranged) {
  run_ok(command_of(kRows + "--chunks 1,5,37 --growth 1,1.1 --strategy streams,engines,"
                            "double-buffer,batch,graph,graph-streams,graph-double-buffer,zero-copy,serial"));
}

TEST_F(OwnKernels, ComeToTheSameWithFewSlotsSeveralRoundsAndSeveralKernelsForAChunk) {
  run_ok(command_of(kRows + "--strategy engines,batch --batch 2 --slots 2,4 --chunks 7 --rounds 1,3"));
  run_ok(command_of(kRows + "--strategy streams --streams 1,3 --issue breadth,depth --chunks 7 --kernels-per-chunk 3"));
}

TEST_F(OwnKernels, MayReadMoreRowsThanAChunkOrThePayloadHas) {
  run_ok(command_of("overlap --size 8000 --row-bytes 1000 --halo-rows 3,20 --chunks 8 --strategy engines,streams"));
}

TEST_F(OwnKernels, AreOfAnyType) {
  run_ok(command_of("overlap --size 70104 --chunks 3 --strategy engines,zero-copy --kernel-type all"));
  run_ok(command_of("overlap --size 70101 --chunks 3 --strategy engines --kernel-type uchar"));
}

TEST_F(OwnKernels, WorkInPlaceWhereTheyReadNoOtherRows) {
  run_ok(command_of("overlap --size 70104 --chunks 5 --strategy engines,streams,double-buffer,serial --in-place"));
}

TEST_F(OwnKernels, OfLargePayloadsAreCheckedWithoutMovingAllOfThem) {
  const Words line = command_of("overlap --size 1G --chunks 32 --strategy streams");
  run_ok(line);
  ChunkedWork work(device_, {.bytes = GiB, .chunks = 32, .own = own_kernel_of(cases_of(line).front().config, GiB)});
  work.prepare();
  std::size_t moved = 0;
  work.payload()->part().for_each(0, GiB, [&moved](std::size_t begin, std::size_t end) { moved += end - begin; });
  EXPECT_GT(moved, 0U);
  EXPECT_LT(moved, GiB / 100);
  EXPECT_NO_THROW(work.check("all"));
  *work.payload()->host_out() ^= std::byte{1};
  EXPECT_THROW(work.check("all"), VerificationError);
}

TEST_F(OwnKernels, HaveNoWorkOfTheProgramsOwn) {
  const Result r = run_ok(command_of(kRows)).front();
  EXPECT_EQ(r.metric("work"), nullptr);
  EXPECT_EQ(r.label("computed_by"), "a stand-in");
  EXPECT_EQ(r.label("compared_with"), "the stand-in over the whole payload at once");
  EXPECT_TRUE(std::ranges::any_of(r.warnings, [](const std::string& warning) {
    return warning.starts_with("sobel did not run, because the device is simulated: a stand-in");
  }));
}

TEST_F(OwnKernels, ThatAreNotVerifiedAreNotSaidToBe) {
  RunContext bench = quick_bench(device_);
  bench.verify = false;
  const auto results = run_all(cases_of(command_of(kRows)), bench);
  EXPECT_EQ(results.front().label("computed_by"), "a stand-in");
  EXPECT_EQ(results.front().label("compared_with"), "");
}

TEST(OwnKernelsOnSeveralGpus, ComeToTheSameThroughNeighboursAndEachByItself) {
  sim::SimMachine machine(profile("h200-x2"), {0, 1});
  for (const char* way : {"--strategy multipath", "--split each --strategy engines"}) {
    const auto cases = cases_of(command_of(kRows + "--chunks 7 " + way));
    const GpusOfRun gpus{machine.device().capabilities().environment, true};
    for (const Result& r : run_all(expanded(cases, gpus), quick_bench(machine.device()))) {
      EXPECT_EQ(r.status, Status::ok) << way << ": " << r.reason;
    }
  }
}

TEST(OwnKernelsOnSeveralGpus, AreNotSharedOutWhereTheyReadNeighbouringRows) {
  EXPECT_EQ(
      reason_of(command_of(kRows + "--chunks 7 --split shared --gpus 2")),
      "--split shared and --halo-rows contradict each other: rows at the boundaries would belong to two GPUs; use "
      "--split each, or --strategy multipath");
}

// --- Missing waits, and kernels that cannot be chunked --------------------------------------------------------------

TEST(WrongOwnKernels, ShowWhereARowAroundAChunkDoesNotArrive) {
  sim::SimMachine machine = machine_that({.copy = [](sim::SimStream& stream, const Copy& c) {
    const bool of_chunk = c.direction == Direction::h2d && c.bytes < 37'000;
    stream.SimStream::copy({c.destination, c.source, c.bytes - (of_chunk ? 1000 : 0), c.direction});
  }});
  const Result r = run(machine, command_of(kRows + "--strategy engines --chunks 7")).front();
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_TRUE(r.reason.starts_with("sobel gives other results chunk by chunk")) << r.reason;
}

TEST(WrongOwnKernels, ThatAreOnlyWrongBesideOthersAreNotSaidToBeUncuttable) {
  int launches = 0;
  sim::SimMachine machine = machine_that({.launch = [&launches](sim::SimStream& stream, const Kernel& kernel) {
    stream.SimStream::launch(kernel);
    const auto output = kernel.output();
    if (output.size() < 37'000 && ++launches == 3) stream.SimStream::launch(FlipBit(output.data(), 0));
  }});
  const Result r = run(machine, command_of(kRows + "--strategy engines --chunks 7")).front();
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_TRUE(r.reason.starts_with("pipeline: wrong result at byte offset")) << r.reason;
}

/// Imitates a kernel that cannot be chunked: its result for a chunk differs from its result for the whole payload.
Override summing(std::size_t whole) {
  return {.launch = [whole](sim::SimStream& stream, const Kernel& kernel) {
    stream.SimStream::launch(kernel);
    const auto output = kernel.output();
    if (kernel.name() == "histogram" && output.size() < whole) stream.SimStream::launch(FlipBit(output.data(), 0));
  }};
}

TEST(WrongOwnKernels, ThatCannotBeCutAreRefusedWithWhatToDo) {
  sim::SimMachine machine = machine_that(summing(40'000));
  const auto results = run(machine, command_of("overlap --size 40000 --chunks 4 --kernel-type int --strategy "
                                               "streams,engines,graph,serial,zero-copy",
                                               "histogram"));
  for (const Result& r : results) {
    const bool in_one_piece = r.config.is("strategy", "serial") || r.config.is("strategy", "zero-copy");
    EXPECT_EQ(r.status, in_one_piece ? Status::ok : Status::failed) << r.config.key() << ": " << r.reason;
    if (in_one_piece) continue;
    EXPECT_TRUE(r.reason.starts_with("histogram gives other results chunk by chunk than over the whole payload"))
        << r.reason;
    EXPECT_NE(r.reason.find("--row-bytes and --halo-rows"), std::string::npos);
    EXPECT_NE(r.reason.find("--strategy serial"), std::string::npos);
  }
}

TEST(WrongOwnKernels, ThatCannotBeCutAreRefusedOnEachOfSeveralGpus) {
  const Override how = summing(40'000);
  sim::SimMachine machine = machine_that(how, "h200-x2", {0, 1});
  const Words line = command_of("overlap --size 40000 --chunks 4 --split each", "histogram");
  const GpusOfRun gpus{machine.device().capabilities().environment, true};
  const auto results = run_all(expanded(cases_of(line), gpus), quick_bench(machine.device()));
  EXPECT_TRUE(results.front().reason.starts_with("histogram gives other results chunk by chunk"))
      << results.front().reason;
}

TEST(WrongOwnKernels, ThatCannotBeCutAreRefusedWhereTheCpuConsumesThem) {
  sim::SimMachine machine = machine_that(summing(40'000));
  const auto results = run(machine, command_of("callback --size 40000 --chunks 4 --method none,poll", "histogram"));
  for (const Result& r : results) {
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_TRUE(r.reason.starts_with("histogram gives other results chunk by chunk")) << r.reason;
    EXPECT_TRUE(r.reason.ends_with("as in a histogram, use --chunks 1")) << r.reason;
  }
  for (const Result& r : run(machine, command_of("callback --size 40000 --chunks 1 --method none,poll", "histogram"))) {
    EXPECT_EQ(r.status, Status::ok) << r.reason;
  }
}

TEST(WrongOwnKernels, ThatComeToSomethingElseEachTimeAreRefused) {
  for (const std::string& line : {kRows, std::string("callback --size 37000 --chunks 4 --method none,naive,poll")}) {
    int launches = 0;
    sim::SimMachine machine = machine_that({.launch = [&launches](sim::SimStream& stream, const Kernel& kernel) {
      stream.SimStream::launch(kernel);
      if (kernel.name() == "sobel" && ++launches % 2 == 0) stream.SimStream::launch(FlipBit(kernel.output().data(), 3));
    }});
    for (const Result& r : run(machine, command_of(line))) {
      EXPECT_EQ(r.status, Status::failed);
      EXPECT_TRUE(r.reason.starts_with("sobel gives different output each time it runs")) << r.reason;
    }
  }
}

// --- Times and bytes ------------------------------------------------------------------------------------------------

TEST_F(OwnKernels, TakeTheTimeThatIsSaidOfThePayloadOrThatOfTheirTraffic) {
  verify_ = false;  // times only: no data is moved
  const auto& p = profile("h200");
  const std::string line = "overlap --size 64M --row-bytes 16K --chunks 16 --strategy engines ";
  const double kernel = median(run_ok(command_of(line + "--kernel-time 0.004")).front(), "kernel");
  EXPECT_NEAR(kernel, 0.004, 1e-5);
  const double traffic = median(run_ok(command_of(line)).front(), "kernel");
  EXPECT_NEAR(traffic, 128.0 * 1024 * 1024 / p.kernel_traffic_rate, 1e-5);
}

TEST_F(OwnKernels, SetTheLimitWhereTheyAreSlow) {
  verify_ = false;  // times only: no data is moved
  const Result r = run_ok(command_of("overlap --size 64M --chunks 16 --strategy engines --kernel-time 0.01")).front();
  EXPECT_EQ(r.label("limited_by"), "kernel");
  EXPECT_NEAR(r.value("bound"), 0.01, 1e-5);
  EXPECT_GT(r.value("efficiency"), 0.9);
}

TEST_F(OwnKernels, CountThePayloadOnceAndNotTheRowsAroundChunks) {
  std::size_t bytes = 0;
  std::size_t copies = 0;
  sim::SimMachine machine = machine_that({.copy = [&](sim::SimStream& stream, const Copy& c) {
    if (c.direction == Direction::h2d && c.bytes < 37'000) bytes += c.bytes, ++copies;
    stream.SimStream::copy(c);
  }});
  Device& device = machine.device();
  const auto planned = cases_of(command_of(kRows + "--chunks 5")).front();
  ChunkedWork work(device, {.bytes = 37'000, .chunks = 5, .own = own_kernel_of(planned.config, 37'000)});
  const Stream stream = device.make_stream(StreamKind::nonblocking);
  for (std::size_t i = 0; i < 5; ++i) work.copy_in(i, stream);
  device.synchronize();
  EXPECT_EQ(copies, 5U);
  EXPECT_EQ(bytes, 37'000U + 5 * 2 * 2 * 1000);
  const Result r = run_ok(command_of(kRows + "--chunks 5")).front();
  EXPECT_DOUBLE_EQ(r.value("bandwidth"), 2e-9 * 37'000 / r.value("makespan"));
}

TEST_F(OwnKernels, AreModelledAsOthersAre) {
  verify_ = false;  // times only: no data is moved
  const auto results =
      run_ok(command_of("overlap --size 64M --row-bytes 16K --halo-rows 1 --chunks 8,32 --strategy "
                        "streams,engines,double-buffer,serial --kernel-time 0.002"));
  for (const Result& r : results) {
    ASSERT_NE(r.metric("residual"), nullptr) << r.config.key();
    EXPECT_LT(std::abs(r.value("residual")), 0.02) << r.config.key();
  }
}

TEST_F(OwnKernels, WhoseRowsAreTooFewForCostsAreNotModelled) {
  const Result r = run_ok(command_of("overlap --size 8M --row-bytes 1M --chunks 4 --strategy engines")).front();
  EXPECT_EQ(r.metric("modelled"), nullptr);
}

TEST(OwnKernelLaunches, AreOfWholeRows) {
  std::size_t launches = 0;
  sim::SimMachine machine = machine_that({.launch = [&launches](sim::SimStream& stream, const Kernel& kernel) {
    EXPECT_EQ(kernel.output().size() % 1000, 0U);
    ++launches;
    stream.SimStream::launch(kernel);
  }});
  run(machine,
      command_of(kRows + "--chunks 5 --kernels-per-chunk 3 --strategy streams,engines,graph,zero-copy,serial"));
  EXPECT_GT(launches, 100U);
}

/// Every copy stays within one allocation on the host and on the device.
TEST(OwnKernelMemory, IsNeverLeftByACopy) {
  sim::SimMachine* within = nullptr;
  sim::SimMachine machine = machine_that({.copy = [&within](sim::SimStream& stream, const Copy& c) {
    const sim::Memory& memory = within->simulation().data.memory;
    const bool in = c.direction == Direction::h2d;
    const std::byte* const device = in ? c.destination : c.source;
    const std::byte* const host = in ? c.source : c.destination;
    EXPECT_TRUE(memory.device_of(device) && memory.device_of(device + c.bytes - 1)) << c.bytes;
    EXPECT_TRUE(memory.socket_of(host) && memory.socket_of(host + c.bytes - 1)) << c.bytes;
    stream.SimStream::copy(c);
  }});
  within = &machine;
  for (const std::string& line :
       {kRows + "--chunks 1,37 --strategy engines,streams", kRows + "--chunks 9 --slots 2 --strategy engines",
        kRows + "--chunks 9 --growth 1.2 --rounds 2 --strategy streams",
        std::string("overlap --size 1M --row-bytes 32K --halo-rows 5 --chunks 1 --strategy engines"),
        std::string("overlap --size 5M --row-bytes 32K --halo-rows 3 --chunks 2 --slots 1 --strategy engines"),
        std::string("callback --size 1M --row-bytes 32K --halo-rows 40 --chunks 3")}) {
    for (const Result& r : run(machine, command_of(line))) EXPECT_EQ(r.status, Status::ok) << r.reason;
  }
}

TEST(OwnKernelMemory, HasRoomForNoMoreRowsThanAreReadAtATime) {
  const auto bytes_of = [](const std::string& line) {
    const PlannedCase planned = cases_of(command_of(line)).front();
    return planned.scenario->needs(planned.config).device;
  };
  const auto in_and_out = [](std::uint64_t payload, std::uint64_t pieces, std::uint64_t halo) {
    return 2 * (payload + pieces * (2 * halo + 256));
  };
  // A single row cannot be split to measure the cost of pieces.
  EXPECT_EQ(bytes_of("overlap --size 4M --row-bytes 4M --halo-rows 64 --chunks 1 --strategy engines"),
            in_and_out(4 * MiB, 1, 256 * MiB));
  EXPECT_EQ(bytes_of("overlap --size 4M --row-bytes 64K --halo-rows 8 --chunks 1 --strategy engines"),
            in_and_out(4 * MiB, 64, MiB / 2));
  EXPECT_EQ(bytes_of("callback --size 4M --row-bytes 64K --halo-rows 8 --chunks 3"), in_and_out(4 * MiB, 3, MiB / 2));
}

// --- Refused flags --------------------------------------------------------------------------------------------------

TEST(OwnKernelFlags, AreRefusedWhereTheyDoNotFit) {
  const auto refuse = [](const std::string& line, const std::string& why) {
    EXPECT_EQ(reason_of(command_of(line)), why);
  };
  refuse("overlap --size 37001 --row-bytes 1000", "--size 37001B is not a whole number of 4-byte elements (float)");
  refuse("overlap --size 37004 --row-bytes 1000",
         "--size 37004B is not a whole number of rows of 1000 bytes; for 37 rows choose --size 37000B");
  refuse("overlap --size 36000 --row-bytes 1001", "--row-bytes 1001 is not a whole number of 4-byte elements (float)");
  refuse(kRows + "--chunks 38",
         "--chunks 38 is more than the 37 rows of --size 37000B; choose fewer chunks or a larger size");
  refuse(kRows + "--strategy engines --in-place",
         "--in-place and --halo-rows contradict each other: a chunk would overwrite rows that other chunks read; leave "
         "one "
         "out");
  refuse("overlap --halo-rows 1",
         "--halo-rows does nothing here: it belongs to --row-bytes; give that, too, or leave it out");
  refuse("overlap --work 3", "--work does nothing here: it belongs to --kernel fma,vector-add,sincos; leave it out");
  refuse("overlap --balance 1",
         "--balance does nothing here: it belongs to --kernel fma,vector-add,sincos; leave it out");
  refuse("overlap --blocks 1",
         "--blocks does nothing here: it belongs to --kernel fma,vector-add,sincos; leave it out");
  refuse("overlap --kernel fma", "--kernel-file and --kernel contradict each other: both set the same value");
  refuse("callback --work 3", "--kernel-file and --work contradict each other: both set the same value");
}

TEST(OwnKernelFlags, NeedAFileAndAName) {
  EXPECT_EQ(reason_of({"overlap", "--kernel-name", "sobel"}),
            "--kernel-name does nothing here: it belongs to --kernel-file; give that, too, or leave it out");
  EXPECT_EQ(reason_of({"overlap", "--kernel-file", "no/such.cu"}),
            "--kernel-file needs --kernel-name, the name of the kernel in no/such.cu");
  EXPECT_EQ(reason_of({"overlap", "--kernel-file", "no/such.cu", "--kernel-name", "sobel"}),
            "--kernel-file no/such.cu cannot be read: No such file or directory");
  EXPECT_EQ(reason_of({"overlap", "--kernel-file", "/tmp", "--kernel-name", "sobel"}),
            "--kernel-file /tmp cannot be read: it is a directory");
  EXPECT_EQ(reason_of({"overlap", "--kernel-file", "a.ptx", "--kernel-name", "sobel", "--kernel-arch", "sm_90"}),
            "a.ptx is already compiled: --kernel-arch and --kernel-option are for CUDA C++ only; leave them out");
}

TEST(OwnKernelFlags, SayATimeOnlyWhereItIsSimulated) {
  const auto machine = capable_machine();
  const std::string why = reason_of(command_of(kRows + "--kernel-time 1"), &machine->device().capabilities());
  EXPECT_TRUE(why.starts_with("--kernel-time is for simulated devices only")) << why;
}

TEST(OwnKernelInputs, FollowFromTheSeedAndAreSmall) {
  std::array<std::byte, 8> one{};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    write_own_element(ElementType::float_type, 3, i, one.data());
    float real = 0;
    std::memcpy(&real, one.data(), sizeof(real));
    EXPECT_TRUE(real >= 1 && real < 2) << real;
    write_own_element(ElementType::double_type, 3, i, one.data());
    double longer = 0;
    std::memcpy(&longer, one.data(), sizeof(longer));
    EXPECT_TRUE(longer >= 1 && longer < 2) << longer;
    write_own_element(ElementType::half_type, 3, i, one.data());
    EXPECT_EQ(std::to_integer<unsigned>(one[1]) & 0xFCU, 0x3CU);
    write_own_element(ElementType::long_type, 3, i, one.data());
    std::uint64_t whole = 0;
    std::memcpy(&whole, one.data(), sizeof(whole));
    EXPECT_LT(whole, 128U);
  }
}

// --- Other scenarios with kernels of users --------------------------------------------------------------------------

TEST_F(OwnKernels, AreConsumedChunkByChunk) {
  run_ok(command_of("callback --size 37000 --row-bytes 1000 --halo-rows 1 --chunks 7 --streams 2"));
  run_ok(command_of("callback --size 70101 --kernel-type uchar --chunks 7 --streams 2"));
}

TEST_F(OwnKernels, AreTuned) {
  const auto cases = cases_of({"tune",          "overlap",
                               "--size",        "4M",
                               "--row-bytes",   "16K",
                               "--halo-rows",   "1",
                               "--strategy",    "streams,engines,zero-copy",
                               "--streams",     "2,4",
                               "--chunks",      "2,8,64",
                               "--growth",      "1",
                               "--kernel-file", example_kernel("sobel"),
                               "--kernel-name", "sobel"});
  const std::vector<Case> space = feasible(cases, machine_, true, std::nullopt);
  const TuneObserver nobody{.progress = [](const TuneProgress&) {}, .measured = [](const std::vector<Result>&) {}};
  const auto command_of_case = [](const Case& c) { return c.key(); };
  const Tuned tuned = tune(*cases.front().scenario, space, quick_bench(device_), command_of_case, nobody);
  ASSERT_FALSE(tuned.results.empty());
  for (const Result& r : tuned.results) {
    EXPECT_EQ(r.status, Status::ok) << r.reason;
    EXPECT_EQ(r.label("computed_by"), "a stand-in");
  }
}

TEST_F(OwnKernels, AreLoadedOncePerDevice) {
  KernelSource source{.file = "a.cu", .content = "one", .name = "sobel"};
  const LoadedKernel& first = device_.load_kernel(source);
  EXPECT_EQ(&device_.load_kernel(source), &first);
  source.content = "another";
  EXPECT_NE(&device_.load_kernel(source), &first);
}

TEST(OwnKernelLaunches, HaveAThreadForEachElementOrAsManyAsAreWished) {
  const CapableKernel wishing;  // wishes blocks of 128 threads, four elements per thread
  const std::string name = "mine";
  const OwnLaunch chosen = kernels::OwnKernel(name, wishing, {.elements = 1025}).launch_shape();
  EXPECT_EQ(chosen.block_size, 128U);
  EXPECT_EQ(chosen.blocks, 3U);
  EXPECT_EQ(chosen.shared_bytes, 1024U);
  const OwnLaunch given = kernels::OwnKernel(name, wishing, {.elements = 1025, .block_size = 32}).launch_shape();
  EXPECT_EQ(given.blocks, 9U);
}

TEST(OwnKernelLaunches, HaveNoMoreBlocksThanAGridHas) {
  constexpr std::size_t kMost = 0x7FFFFFFF;
  const CapableKernel wishing;  // four elements per thread
  const std::string name = "mine";
  const auto shape = [&](std::size_t elements, unsigned block_size) {
    return kernels::OwnKernel(name, wishing, {.elements = elements, .block_size = block_size}).launch_shape();
  };
  EXPECT_EQ(shape(kMost * 4, 1).blocks, kMost);
  EXPECT_EQ(shape(kMost * 4 + 1, 32).blocks, 1U << 26U);
  try {
    shape(kMost * 4 + 1, 1);
    ADD_FAILURE() << "there is no such grid";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "launching mine over 8589934589 elements: 2147483648 blocks of 1 threads exceed the 2147483647 "
                 "of a grid; choose a larger --block-size, or more elements per thread in mine_launch");
  }
}

}  // namespace

}  // namespace xferbench::test

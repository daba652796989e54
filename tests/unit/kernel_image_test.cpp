// Compiled kernels of users (PTX and cubin files): damaged or unsuitable ones are refused before the driver loads them.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "device/kernel_image.hpp"
#include "device/nvrtc.hpp"

namespace xferbench {

namespace {

/// The error for a file with this content; "taken" if there is none.
std::string error_of(const std::string& content, const std::string& file = "mine.ptx") {
  try {
    static_cast<void>(image_of({.file = file, .content = content, .name = "twice"}));
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "taken";
}

/// PTX in the layout of nvcc.
std::string ptx(const std::string& parameters, const std::string& name = "twice") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n\n\t// .globl\t" + name + "\n.visible .entry " + name + "(\n" +
         parameters + "\n)\n{\n\tret;\n}\n";
}
std::string of_types(const std::string& third, const std::string& more = "") {
  return ptx("\t.param .u64 .ptr .align 1 twice_param_0,\n\t.param .u64 twice_param_1,\n\t.param " + third +
             " twice_param_2" + more);
}

TEST(KernelParameters, AreTheThreeThatALaunchPasses) {
  EXPECT_EQ(error_of(of_types(".u64")), "taken");
  EXPECT_EQ(error_of(of_types(".b64")), "taken");
  EXPECT_EQ(
      error_of(of_types(".u64", ",\n\t.param .f32 twice_param_3")),
      "mine.ptx: twice takes 4 parameters: it must be declared as extern \"C\" __global__ void twice(const T* in, "
      "T* out, size_t n), because launches pass these three arguments; use constants for other values");
  EXPECT_TRUE(error_of(ptx("\t.param .u64 twice_param_0")).starts_with("mine.ptx: twice takes 1 parameter: "));
  EXPECT_TRUE(error_of(ptx("")).starts_with("mine.ptx: twice takes 0 parameters: "));
  EXPECT_TRUE(error_of(".visible .entry twice .maxntid 256, 1, 1 {}").starts_with("mine.ptx: twice takes 0 "));
}

TEST(KernelParameters, AreOfTheSizeThatALaunchPasses) {
  EXPECT_EQ(error_of(of_types(".u32")),
            "mine.ptx: parameter 3 of twice has 4 bytes, not 8: it must be declared as extern \"C\" __global__ void "
            "twice(const T* in, T* out, size_t n)");
  EXPECT_TRUE(error_of(of_types(".b32")).starts_with("mine.ptx: parameter 3 of twice has 4 bytes"));
  EXPECT_TRUE(error_of(of_types(".align 8 .b8", "[16]")).starts_with("mine.ptx: parameter 3 of twice has 16 bytes"));
}

TEST(KernelParameters, AreThoseOfTheKernelWithThatName) {
  const std::string others = ptx("\t.param .u64 a", "twice_as_much") + ptx("", "not_twice");
  EXPECT_EQ(error_of(others + of_types(".u64")), "taken");
  EXPECT_TRUE(error_of(others).starts_with("mine.ptx has no kernel twice: it must be declared as extern \"C\""));
}

TEST(KernelParameters, MayHaveCommentsBesideThem) {
  EXPECT_EQ(error_of("// .entry twice() is below\n.file 1 \"http://x/*.cu\"\n" +
                     ptx(".param .u64 in, // what is read, (all)\n.param .u64 out, /* one, two */ .param .u64 n")),
            "taken");
}

// --- Truncated cubins -----------------------------------------------------------------------------------------------

/// A minimal ELF file: the header, a section of 16 bytes, three section headers (null, those 16 bytes, one without data
/// in the file), and one program header at the end, as in cubins.
struct Elf {
  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> sections{3};
  Elf64_Phdr program{};

  Elf() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = sizeof(header) + 16;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_phoff = header.e_shoff + 3 * sizeof(Elf64_Shdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_offset = sizeof(header);
    sections[1].sh_size = 16;
    sections[2].sh_type = SHT_NOBITS;
    sections[2].sh_offset = sizeof(header);
    sections[2].sh_size = 1ULL << 40U;
  }
  [[nodiscard]] std::string image() const {
    std::string all(reinterpret_cast<const char*>(&header), sizeof(header));
    all.append(16, '\0');
    all.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
    return all.append(reinterpret_cast<const char*>(&program), sizeof(program));
  }
};

const std::string kCutOff = "loading mine.cubin: the cubin is truncated: its parts need more than ";

TEST(KernelImages, ThatAreWholeAreTaken) { EXPECT_EQ(error_of(Elf().image(), "mine.cubin"), "taken"); }

TEST(KernelImages, ThatAreCutOffAnywhereAreRefused) {
  const std::string whole = Elf().image();
  for (std::size_t bytes = SELFMAG; bytes < whole.size(); ++bytes) {
    const std::string error = error_of(whole.substr(0, bytes), "mine.cubin");
    EXPECT_TRUE(error.starts_with(kCutOff + std::to_string(bytes) + " bytes")) << error;
  }
}

TEST(KernelImages, WhoseHeadersNameWhatIsNotThereAreRefused) {
  const auto refused = [](const auto& spoil) {
    Elf elf;
    spoil(elf);
    EXPECT_TRUE(error_of(elf.image(), "mine.cubin").starts_with(kCutOff));
  };
  refused([](Elf& elf) { elf.sections[1].sh_size = ~std::uint64_t{0}; });
  refused([](Elf& elf) { elf.sections[1].sh_offset = ~std::uint64_t{0}; });
  refused([](Elf& elf) { elf.header.e_shoff = ~std::uint64_t{0}; });
  refused([](Elf& elf) { elf.header.e_phoff = ~std::uint64_t{0}; });
  refused([](Elf& elf) { elf.header.e_shnum = 0; });
  refused([](Elf& elf) { elf.header.e_shnum = 0xFFFF; });
  refused([](Elf& elf) { elf.header.e_shentsize = 1; });
  refused([](Elf& elf) { elf.header.e_ident[EI_CLASS] = ELFCLASS32; });
}

TEST(KernelImages, OfSeveralArchitecturesAreWholeOrRefused) {
  std::string fat("\x50\xed\x55\xba\x01\x00\x10\x00\x20\x00\x00\x00\x00\x00\x00\x00", 16);
  EXPECT_TRUE(error_of(fat + std::string(31, '\0'), "mine.cubin").starts_with(kCutOff));
  EXPECT_EQ(error_of(fat + std::string(32, '\0'), "mine.cubin"), "taken");
  EXPECT_TRUE(error_of(fat.substr(0, 15), "mine.cubin").starts_with(kCutOff));
}

TEST(KernelImages, OfAnotherKindAreRefused) {
  EXPECT_EQ(error_of(""), "loading mine.ptx: it is empty; compile it again, or name the .cu file");
  EXPECT_EQ(error_of(std::string("PK\x03\x04\0\0junk", 10), "mine.cubin"),
            "loading mine.cubin: it is not PTX, a cubin or a fat binary; compile it again, or name the .cu file");
  EXPECT_TRUE(error_of("no code at all").starts_with("mine.ptx has no kernel twice"));
  EXPECT_EQ(error_of(of_types(".u64") + std::string(1, '\0')), "taken") << "as NVRTC ends it";
}

// --- Kernel names ---------------------------------------------------------------------------------------------------

TEST(KernelNames, AreWordsOfTheirOwnOrMangled) {
  EXPECT_TRUE(has_name(".const .align 4 .b8 a_launch[12]", "a_launch"));
  EXPECT_TRUE(has_name(std::string("\0a_launch\0", 10), "a_launch")) << "in a cubin's table";
  EXPECT_TRUE(has_name(".const .b8 _ZN1x8a_launchE[12]", "a_launch"));
  EXPECT_TRUE(has_name(".const .b8 _ZL8a_launch[12]", "a_launch"));
  EXPECT_FALSE(has_name(".const .b8 sma_launch[12], a_launches[2], a_launch_[1]", "a_launch"));
  EXPECT_FALSE(has_name(".const .b8 _ZN1x9sa_launchE[12]", "a_launch"));
}

TEST(DriverErrors, AreTheFirstLinesOfItsLog) {
  const std::string log =
      "ptxas application ptx input, line 12; error   : Unknown symbol 'x'\n"
      "ptxas application ptx input, line 14; error   : Label expected\n\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\nmore\n";
  EXPECT_EQ(first_errors(log + std::string(100, '\0')),
            "line 12; error   : Unknown symbol 'x'; line 14; error   : Label expected; ptxas fatal   : Ptx assembly "
            "aborted due to errors");
  EXPECT_EQ(first_errors(std::string(100, '\0')), "");
}

}  // namespace

}  // namespace xferbench

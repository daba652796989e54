// Student's t against values of SciPy 1.10 (scipy.stats.t).
#include "model/student.hpp"

#include <gtest/gtest.h>

#include <array>

namespace xferbench::model {
namespace {

struct Known {
  double t;
  double freedom;
  double two_sided;
};
constexpr std::array<Known, 9> kKnown{{{1, 1, 0.5},
                                       {2.776, 4, 0.0500227783199764},
                                       {12.3, 2, 0.006545001272475557},
                                       {0.5, 7.3, 0.6317935268044416},
                                       {4.6, 8, 0.001755452769485225},
                                       {230, 1.5, 0.00021620771241018146},
                                       {3, 1000, 0.0027667090442381878},
                                       {0.001, 3, 0.9992648949694609},
                                       {50, 30, 1.8715417659222844e-30}}};

TEST(Student, IsWhatTablesSay) {
  for (const Known& known : kKnown) {
    EXPECT_NEAR(student_two_sided(known.t, known.freedom) / known.two_sided, 1, 1e-9) << known.t;
    EXPECT_NEAR(student_two_sided(-known.t, known.freedom) / known.two_sided, 1, 1e-9);
    EXPECT_NEAR(student_quantile(known.two_sided, known.freedom) / known.t, 1, 1e-9) << known.t;
  }
  EXPECT_NEAR(student_quantile(0.05, 1e6), 1.95996, 1e-5);
}

TEST(Student, HasEnds) {
  EXPECT_EQ(student_two_sided(0, 3), 1);
  EXPECT_EQ(student_two_sided(1e300, 3), 0);
  EXPECT_EQ(student_quantile(1, 3), 0);
  EXPECT_GT(student_quantile(1e-9, 1), 1e8);
}

}  // namespace
}  // namespace xferbench::model

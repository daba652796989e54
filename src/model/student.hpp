// Student's t distribution with any positive number of degrees of freedom, also broken ones as Welch's test has them.
// Own code, as two functions are all that is needed: Boost.Math would be a package more to install wherever the program
// is built. Tests hold it against SciPy's.
#pragma once

namespace xferbench::model {

/// The chance of a value at least so far from 0, on either side. `degrees_of_freedom` must be above 0.
double student_two_sided(double t, double degrees_of_freedom);

/// The t beyond which, on both sides together, that chance in (0, 1] remains: 2.776 of 0.05 with 4 degrees of freedom.
double student_quantile(double two_sided, double degrees_of_freedom);

}  // namespace xferbench::model

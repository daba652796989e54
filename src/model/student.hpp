// Student's t distribution for any positive, also fractional, degrees of freedom (as in Welch's test). Implemented
// here because Boost.Math would be a further build dependency for two functions. Tests compare it with SciPy.
#pragma once

namespace xferbench::model {

/// Returns the probability of |T| >= |t|. `degrees_of_freedom` must be positive.
double student_two_sided(double t, double degrees_of_freedom);

/// Returns the t with P(|T| > t) = `two_sided`, in (0, 1]: for example 2.776 for 0.05 and 4 degrees of freedom.
double student_quantile(double two_sided, double degrees_of_freedom);

}  // namespace xferbench::model

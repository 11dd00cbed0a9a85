// Trials: what one right executor may come to.
//
// In a sampled run an element has a radius, the standard deviation of what roundings may have done
// to it. A trial draws an error of that size as soon as a node has made the element, and goes on
// with the number that came out, which has no radius. So what an estimate takes as independent is
// what it is: the error of a mean is in all that it is taken from, and a quotient goes as far as
// its divisor went. Equal numbers get equal errors, as equal roundings make them. Every other trial
// rounds what it drew to the tensor's dtype, as an executor does that stores it: a number near 1
// becomes 1, and its fraction 0.
//
// Source: D. S. Parker, "Monte Carlo Arithmetic", UCLA CSD-970002 (1997), which draws the rounding
// of each operation; here a node's are drawn at once.
#pragma once

#include <cstdint>

#include "reference/tensor.h"

namespace graphgate::reference {

struct Trial {
  std::uint64_t number = 0;  // another draw for each; odd ones round
  int scale = 1;             // errors are drawn so many times as large
};

// Draws the errors of all elements of a floating dtype that have a finite radius; the same for the
// same trial. Ties and contents that are left open stay so.
void draw_errors(Tensor& tensor, const Trial& trial);

}  // namespace graphgate::reference

// Random models with the architecture of common ones.
#pragma once

#include <string>

namespace trainc::programs {

/// A model and a program that trains it: blocks of attention, norms and gated products around residual
/// streams. Language models have embeddings, a head that may be tied, and, if nothing forbids it, the entries
/// of generation; the others mix rows and columns of features. The same seed gives the same text.
std::string drawArchitecture(unsigned seed);

} // namespace trainc::programs

// Names of the sizes of a decoder.
#pragma once

#include "lib/Import/Decoder.h"
#include "lib/Import/NamedSizes.h"

namespace trainc::importer {

/// Returns the sizes of a decoder and their places in its text: width, heads, layers and the like.
NamedSizes sizesOf(const Decoder &decoder);

} // namespace trainc::importer

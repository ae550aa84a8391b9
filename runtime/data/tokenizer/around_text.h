// Tokens that a tokenizer puts around every text, such as <s> before it.
#pragma once

#include <cstdint>
#include <vector>

namespace trainc {

/// Ids before a text and after it.
struct AroundText {
  std::vector<uint32_t> before, after;
};

} // namespace trainc

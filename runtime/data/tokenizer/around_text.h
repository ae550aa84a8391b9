// Tokens that a tokenizer adds before and after every text, such as <s>.
#pragma once

#include <cstdint>
#include <vector>

namespace trainc {

/// Ids before a text and after it.
struct AroundText {
  std::vector<uint32_t> before, after;
};

} // namespace trainc

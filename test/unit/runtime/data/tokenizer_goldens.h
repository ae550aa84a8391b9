// Where the tokenizers are, and the numbers that make_goldens.py wrote.
#pragma once

#include <string>

namespace trainc::test {

inline const std::string kTokenizerGoldens = TRAINC_TOKENIZER_GOLDENS;

} // namespace trainc::test

// What somebody meant who wrote a word that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// The known word that differs least from `word`; empty if none has much in common with it.
std::string findNearest(std::string_view word, const std::vector<std::string> &known);

} // namespace trainc

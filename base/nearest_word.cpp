#include "base/nearest_word.h"

#include <algorithm>
#include <numeric>

namespace trainc {

namespace {

/// The Levenshtein distance of two texts.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

} // namespace

std::string findNearest(std::string_view word, const std::vector<std::string> &known) {
  std::string nearest;
  size_t best = word.size() / 2 + 1; // texts at this distance or beyond are not similar
  for (const std::string &each : known)
    if (const size_t distance = editDistance(word, each); distance < best) {
      best = distance;
      nearest = each;
    }
  return nearest;
}

} // namespace trainc

#include "base/nearest_word.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

namespace trainc {

namespace {

/// Words that other programs use for the same value, each group in one entry.
constexpr std::array<std::array<std::string_view, 4>, 4> kSynonyms = {{{"cuda", "gpu", "nvidia"},
                                                                       {"f32", "fp32", "float32", "float"},
                                                                       {"f16", "fp16", "float16", "half"},
                                                                       {"bf16", "bfloat16"}}};

/// Letters of a word that stand for the rest of it.
constexpr size_t kMinBeginning = 3;

bool isSameLetter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool areSynonyms(std::string_view word, std::string_view known) {
  return std::ranges::any_of(kSynonyms, [&](const auto &group) {
    return std::ranges::find(group, known) != group.end() &&
           std::ranges::any_of(group, [&](std::string_view each) {
             return !each.empty() && std::ranges::equal(word, each, isSameLetter);
           });
  });
}

/// The Levenshtein distance of two texts without regard to case.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (isSameLetter(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

} // namespace

std::string findNearest(std::string_view word, const std::vector<std::string> &known) {
  if (const auto synonym =
          std::ranges::find_if(known, [&](const std::string &each) { return areSynonyms(word, each); });
      synonym != known.end())
    return *synonym;
  std::string nearest;
  size_t best = word.size() / 2 + 1; // texts at this distance or beyond are not similar
  for (const std::string &each : known)
    if (const size_t distance = editDistance(word, each); distance < best) {
      best = distance;
      nearest = each;
    }
  if (!nearest.empty() || word.size() < kMinBeginning)
    return nearest;
  const auto longer =
      std::ranges::find_if(known, [&](const std::string &each) { return each.starts_with(word); });
  return longer == known.end() ? nearest : *longer;
}

std::string describeUnknownWord(std::string_view word, const std::vector<std::string> &known) {
  std::string text = "expected " + known.front();
  for (size_t i = 1; i < known.size(); ++i)
    text += (i + 1 < known.size() ? ", " : " or ") + known[i];
  text.append(", found '").append(word).append("'");
  const std::string nearest = findNearest(word, known);
  return nearest.empty() ? text : text + "; did you mean '" + nearest + "'?";
}

} // namespace trainc

#include "base/nearest_word.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

namespace trainc {

namespace {

/// Words that other programs use for the same value, each group in one entry.
constexpr std::array<std::array<std::string_view, 4>, 6> kSynonyms = {{{"cuda", "gpu", "nvidia"},
                                                                       {"f32", "fp32", "float32", "float"},
                                                                       {"f16", "fp16", "float16", "half"},
                                                                       {"bf16", "bfloat16"},
                                                                       {"disk", "nvme", "ssd"},
                                                                       {"host", "cpu", "ram"}}};

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

/// The known word that `word` begins with, without regard to case, as CosineAnnealingLR begins with cosine;
/// empty if there is none.
std::string findBeginning(std::string_view word, const std::vector<std::string> &known) {
  const auto begins = std::ranges::find_if(known, [&](const std::string &each) {
    return each.size() >= kMinBeginning && word.size() > each.size() &&
           std::ranges::equal(word.substr(0, each.size()), each, isSameLetter);
  });
  return begins == known.end() ? std::string() : *begins;
}

} // namespace

std::string findNearest(std::string_view word, const std::vector<std::string> &known) {
  if (const auto synonym =
          std::ranges::find_if(known, [&](const std::string &each) { return areSynonyms(word, each); });
      synonym != known.end())
    return *synonym;
  // "h100" for "h100-sxm", whatever other words differ by a letter only.
  const bool mayBegin = word.size() >= kMinBeginning && std::ranges::find(known, word) == known.end();
  const auto whole = std::ranges::find_if(known, [&](const std::string &each) {
    return mayBegin && each.size() > word.size() && each.starts_with(word) &&
           std::string_view("-_.").find(each[word.size()]) != std::string_view::npos;
  });
  if (whole != known.end())
    return *whole;
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

std::string listWords(const std::vector<std::string> &words, std::string_view last) {
  const std::string separator = " " + std::string(last) + " ";
  std::string text = words.empty() ? "nothing" : words.front();
  for (size_t i = 1; i < words.size(); ++i)
    text += (i + 1 < words.size() ? ", " : separator) + words[i];
  return text;
}

std::string describeUnknownWord(std::string_view word, const std::vector<std::string> &known) {
  std::string text = "expected " + listWords(known, "or");
  text.append(", found '").append(word).append("'");
  std::string nearest = findNearest(word, known);
  if (nearest.empty())
    nearest = findBeginning(word, known);
  return nearest.empty() ? text : text + "; did you mean '" + nearest + "'?";
}

} // namespace trainc

#include "runtime/data/tokenizer/word_piece_model.h"

#include "base/plain_text.h"

#include <algorithm>
#include <unordered_set>

namespace trainc {

Result<std::unique_ptr<TokenModel>> WordPieceModel::create(const WordPieceDefinition &definition) {
  auto model = std::make_unique<WordPieceModel>();
  std::vector<PieceTrie::Piece> begins, continues;
  std::unordered_set<uint32_t> ids;
  for (const auto &[token, id] : definition.vocabulary) {
    if (!ids.insert(id).second)
      return invalidInput("{}: vocabulary: token '{}' has id {}, which another token has already",
                          definition.file, printable(token), id);
    if (token.size() > kMaxPieceBytes)
      return invalidInput("{}: vocabulary: the token with id {} has {} bytes; expected at most {}",
                          definition.file, id, token.size(), kMaxPieceBytes);
    model->vocabulary_.emplace(token, id);
    begins.emplace_back(token, id);
    if (token.starts_with(definition.prefix))
      continues.emplace_back(std::string_view(token).substr(definition.prefix.size()), id);
  }
  const auto unknown = model->find(definition.unknown);
  if (!unknown)
    return invalidInput("{}: model.unk_token: '{}' is not in the vocabulary", definition.file,
                        printable(definition.unknown));
  model->unknown_ = *unknown;
  model->maxWordCharacters_ = definition.maxWordCharacters;
  model->begins_ = PieceTrie(std::move(begins));
  model->continues_ = PieceTrie(std::move(continues));
  return std::unique_ptr<TokenModel>(std::move(model));
}

bool WordPieceModel::encode(std::string_view word, std::vector<uint32_t> &ids) {
  if (const std::span<const uint32_t> known = cache_.find(word); !known.empty()) {
    ids.insert(ids.end(), known.begin(), known.end());
    return true;
  }
  const size_t first = ids.size();
  if (!encodeKnown(word, ids)) {
    ids.resize(first);
    ids.push_back(unknown_);
  }
  cache_.insert(word, std::span(ids).subspan(first));
  return true;
}

/// Appends the ids of `word`; false if the word is unknown, after some ids.
bool WordPieceModel::encodeKnown(std::string_view word, std::vector<uint32_t> &ids) const {
  const auto isContinuation = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  if (word.size() - static_cast<size_t>(std::ranges::count_if(word, isContinuation)) > maxWordCharacters_)
    return false;
  for (size_t begin = 0; begin < word.size();) {
    size_t longest = 0;
    uint32_t longestId = 0;
    const PieceTrie &trie = begin == 0 ? begins_ : continues_;
    trie.forEachPrefix(word.substr(begin), [&](size_t bytes, uint32_t id) {
      longest = bytes;
      longestId = id;
    });
    if (longest == 0)
      return false;
    ids.push_back(longestId);
    begin += longest;
  }
  return true;
}

bool WordPieceModel::encodeInvalid(std::string_view /*bytes*/, std::vector<uint32_t> &ids) {
  ids.push_back(unknown_);
  return true;
}

} // namespace trainc

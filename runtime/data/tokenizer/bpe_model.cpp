#include "runtime/data/tokenizer/bpe_model.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/fallback_byte.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <unordered_set>

namespace trainc {

namespace {

/// Keeps every id a valid i32, and sums of ids in 32 bits.
constexpr uint32_t kMaxId = (1U << 30) - 1;
constexpr size_t kNone = static_cast<size_t>(-1);
/// Longer words are encoded in parts, if there are positions that no merge crosses.
constexpr size_t kLongWord = 30;

} // namespace

Result<std::unique_ptr<TokenModel>> BpeModel::create(const BpeDefinition &definition) {
  auto model = std::make_unique<BpeModel>();
  model->units_ = definition.units;
  model->ignoreMerges_ = definition.ignoreMerges;
  TRAINC_RETURN_IF_ERROR(model->addVocabulary(definition));
  model->addBytes();
  model->addFallback(definition);
  TRAINC_RETURN_IF_ERROR(model->addUnknown(definition));
  TRAINC_RETURN_IF_ERROR(model->addMerges(definition));
  model->findStarts(definition);
  return std::unique_ptr<TokenModel>(std::move(model));
}

Status BpeModel::addVocabulary(const BpeDefinition &definition) {
  std::unordered_set<uint32_t> ids;
  for (const auto &[token, id] : definition.vocabulary) {
    if (id > kMaxId)
      return invalidInput("{}: vocabulary: token '{}' has id {}; ids go up to {}", definition.file, token, id,
                          kMaxId);
    if (!ids.insert(id).second)
      return invalidInput("{}: vocabulary: token '{}' has id {}, which another token has already",
                          definition.file, token, id);
    vocabulary_.emplace(token, id);
    if (ignoreMerges_ && units_ == Units::kBytes)
      if (auto bytes = bytesOfToken(token))
        wholeWords_.emplace(std::move(*bytes), id);
  }
  return {};
}

void BpeModel::addBytes() {
  for (size_t byte = 0; byte < byteIds_.size(); ++byte) {
    const char value = static_cast<char>(byte);
    const std::string_view text(&value, 1);
    const bool isUnit = units_ != Units::kCharacters || byte < 0x80;
    byteIds_[byte] =
        isUnit ? find(units_ == Units::kCharacters ? std::string(text) : inByteAlphabet(text)).value_or(kNoId)
               : kNoId;
  }
}

void BpeModel::addFallback(const BpeDefinition &definition) {
  for (size_t byte = 0; byte < fallbackIds_.size(); ++byte)
    fallbackIds_[byte] =
        definition.byteFallback ? find(fallbackToken(static_cast<uint8_t>(byte))).value_or(kNoId) : kNoId;
  anyByteFalls_ = std::ranges::find(fallbackIds_, kNoId) == fallbackIds_.end();
}

Status BpeModel::addUnknown(const BpeDefinition &definition) {
  fuseUnknown_ = definition.fuseUnknown;
  if (definition.unknown)
    unknown_ = find(*definition.unknown).value_or(kNoId);
  if (units_ != Units::kCharacters)
    return {};
  if (definition.unknown && unknown_ == kNoId)
    return invalidInput("{}: model.unk_token: '{}' is not in the vocabulary", definition.file,
                        *definition.unknown);
  if (unknown_ == kNoId && !anyByteFalls_)
    return invalidInput(
        "{}: model: a character that the vocabulary lacks would be lost; expected an 'unk_token', "
        "'byte_fallback' with the tokens <0x00> to <0xFF>, or a pre_tokenizer ByteLevel",
        definition.file);
  return {};
}

Status BpeModel::addMerges(const BpeDefinition &definition) {
  uint32_t rank = 0;
  merges_ = MergeTable(definition.merges.size());
  for (const auto &[left, right] : definition.merges) {
    const auto leftId = find(left);
    const auto rightId = find(right);
    const auto id = find(left + right);
    if (!leftId || !rightId || !id)
      return invalidInput("{}: merge {} ('{}' and '{}'): '{}' is not in the vocabulary", definition.file,
                          rank + 1, left, right,
                          !leftId    ? left
                          : !rightId ? right
                                     : left + right);
    merges_.set(*leftId, *rightId, {rank++, *id});
  }
  return {};
}

void BpeModel::findStarts(const BpeDefinition &definition) {
  const bool bytes = units_ == Units::kBytes;
  for (size_t c = 0; c < startsTokens_.size(); ++c)
    startsTokens_[c] = byteIds_[c] != kNoId && units_ != Units::kStandIns;
  metaStartsTokens_ = units_ == Units::kCharacters && find(kMeta).has_value();
  for (const auto &[left, right] : definition.merges) {
    if (units_ == Units::kCharacters && (fallbackByte(left) || fallbackByte(right) ||
                                         left == definition.unknown || right == definition.unknown)) {
      startsTokens_ = {};
      metaStartsTokens_ = false;
      return;
    }
    const std::string before = bytes ? bytesOfToken(left).value_or("") : left;
    const std::string after = bytes ? bytesOfToken(right).value_or("") : right;
    if (before.empty() || after.empty())
      continue;
    const auto first = static_cast<uint8_t>(after[0]);
    if (first < startsTokens_.size() && before.back() != after[0])
      startsTokens_[first] = false;
    if (after.starts_with(kMeta) && !before.ends_with(kMeta))
      metaStartsTokens_ = false;
  }
}

/// The token for a whole word, if merges are ignored for words in the vocabulary.
std::optional<uint32_t> BpeModel::findWhole(std::string_view word) const {
  if (!ignoreMerges_)
    return std::nullopt;
  if (units_ != Units::kBytes)
    return find(word);
  const auto found = wholeWords_.find(word);
  return found == wholeWords_.end() ? std::nullopt : std::optional(found->second);
}

uint32_t BpeModel::idOfCharacter(std::string_view character) const {
  if (character.size() == 1 && units_ == Units::kCharacters)
    return byteIds_[static_cast<uint8_t>(character[0])];
  return find(character).value_or(kNoId);
}

bool BpeModel::startsTokens(uint32_t character) const {
  if (ignoreMerges_)
    return false;
  return character < startsTokens_.size() ? startsTokens_[character]
                                          : character == kMetaCharacter && metaStartsTokens_;
}

/// Whether no merge crosses `position` in `word`.
bool BpeModel::endsPart(std::string_view word, size_t position) const {
  const auto byte = static_cast<uint8_t>(word[position]);
  const bool meta =
      byte == static_cast<uint8_t>(kMeta[0]) && metaStartsTokens_ && word.substr(position).starts_with(kMeta);
  const std::string_view before = word.substr(0, position);
  if (meta ? before.ends_with(kMeta)
           : byte >= startsTokens_.size() || !startsTokens_[byte] || before.back() == word[position])
    return false;
  if (anyByteFalls_ || unknown_ == kNoId)
    return true;
  // Unknown units may be put late, or fused.
  return units_ == Units::kBytes ? byteIds_[static_cast<uint8_t>(before.back())] != kNoId
                                 : idOfCharacter(before.substr(lastCharacter(before))) != kNoId;
}

bool BpeModel::lacks(char byte) const {
  const auto falls = [&](char part) { return fallbackIds_[static_cast<uint8_t>(part)] != kNoId; };
  return units_ != Units::kCharacters && byteIds_[static_cast<uint8_t>(byte)] == kNoId && unknown_ == kNoId &&
         !std::ranges::all_of(inByteAlphabet(std::string_view(&byte, 1)), falls);
}

bool BpeModel::encode(std::string_view word, std::vector<uint32_t> &ids) {
  if (const std::span<const uint32_t> known = cache_.find(word); !known.empty()) {
    for (const uint32_t id : known)
      ids.push_back(id);
    return true;
  }
  const size_t first = ids.size();
  if (const auto whole = findWhole(word))
    ids.push_back(*whole);
  else if (word.size() > kLongWord)
    return encodeParts(word, ids);
  else if (!merge(word, ids))
    return false;
  cache_.insert(word, std::span(ids).subspan(first));
  return true;
}

bool BpeModel::encodeParts(std::string_view word, std::vector<uint32_t> &ids) {
  size_t begin = 0;
  for (size_t position = 1; position <= word.size(); ++position) {
    if (position < word.size() && !endsPart(word, position))
      continue;
    const std::string_view part = word.substr(begin, position - begin);
    if (!(ignoreMerges_ || part.size() > kLongWord ? merge(part, ids) : encode(part, ids)))
      return false;
    begin = position;
  }
  return true;
}

bool BpeModel::encodeInvalid(std::string_view bytes, std::vector<uint32_t> &ids) {
  if (units_ == Units::kBytes)
    return encode(bytes, ids);
  if (units_ == Units::kStandIns)
    return encode(inByteAlphabet(bytes), ids);
  bool lastIsUnknown = false;
  for (const char byte : bytes) {
    const uint32_t id = fallbackIds_[static_cast<uint8_t>(byte)];
    if (id != kNoId)
      ids.push_back(id);
    else if (unknown_ != kNoId && !(lastIsUnknown && fuseUnknown_))
      ids.push_back(unknown_);
    lastIsUnknown = id == kNoId;
  }
  return true;
}

void BpeModel::addSymbol(uint32_t id) {
  const size_t position = symbols_.size();
  if (position > 0)
    symbols_.back().next = position;
  symbols_.push_back({id, true, position > 0 ? position - 1 : kNone, kNone});
}

/// Adds the tokens of the bytes of a character that has none itself; false if one of them lacks.
bool BpeModel::addFallbackSymbols(std::string_view character) {
  const auto falls = [&](char byte) { return fallbackIds_[static_cast<uint8_t>(byte)] != kNoId; };
  if (!std::ranges::all_of(character, falls))
    return false;
  for (const char byte : character)
    addSymbol(fallbackIds_[static_cast<uint8_t>(byte)]);
  return true;
}

/// Fills symbols_ with the tokens of the units of `part`. An unknown unit waits until a known one comes, even
/// after the bytes of others, as with Hugging Face. False if a unit has no token.
bool BpeModel::addSymbols(std::string_view part) {
  symbols_.clear();
  bool unknownWaits = false;
  for (size_t position = 0; position < part.size();) {
    const size_t begin = position;
    if (units_ == Units::kBytes)
      ++position;
    else
      nextCharacter(part, position);
    const std::string_view unit = part.substr(begin, position - begin);
    const uint32_t id =
        units_ == Units::kBytes ? byteIds_[static_cast<uint8_t>(unit.front())] : idOfCharacter(unit);
    if (id != kNoId) {
      if (std::exchange(unknownWaits, false))
        addSymbol(unknown_);
      addSymbol(id);
      continue;
    }
    if (addFallbackSymbols(units_ == Units::kBytes ? inByteAlphabet(unit) : std::string(unit)))
      continue;
    if (unknown_ == kNoId)
      return false;
    if (unknownWaits && !fuseUnknown_)
      addSymbol(unknown_);
    unknownWaits = true;
  }
  if (unknownWaits)
    addSymbol(unknown_);
  return true;
}

/// Adds the merge of the symbol at `position` with the next one, if there is one.
void BpeModel::consider(size_t position) {
  if (position == kNone || symbols_[position].next == kNone)
    return;
  if (const Merge *merge = merges_.find(symbols_[position].id, symbols_[symbols_[position].next].id)) {
    candidates_.push_back({merge->rank, merge->id, position});
    std::push_heap(candidates_.begin(), candidates_.end());
  }
}

bool BpeModel::merge(std::string_view part, std::vector<uint32_t> &ids) {
  if (!addSymbols(part))
    return false;
  for (size_t i = 0; i < symbols_.size(); ++i)
    consider(i);
  while (!candidates_.empty()) {
    const Candidate best = candidates_.front();
    std::pop_heap(candidates_.begin(), candidates_.end());
    candidates_.pop_back();
    Symbol &left = symbols_[best.position];
    if (!left.alive || left.next == kNone)
      continue;
    Symbol &right = symbols_[left.next];
    const Merge *merge = merges_.find(left.id, right.id);
    if (!merge || merge->id != best.id)
      continue; // one of the two was merged with another neighbour meanwhile
    left.id = best.id;
    left.next = right.next;
    right.alive = false;
    if (left.next != kNone)
      symbols_[left.next].previous = best.position;
    consider(left.previous);
    consider(best.position);
  }
  for (const Symbol &symbol : symbols_)
    if (symbol.alive)
      ids.push_back(symbol.id);
  return true;
}

} // namespace trainc

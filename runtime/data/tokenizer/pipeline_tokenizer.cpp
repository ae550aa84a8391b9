#include "runtime/data/tokenizer/pipeline_tokenizer.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace trainc {

namespace {

constexpr size_t kFlushIds = 1 << 16;

std::vector<AddedToken> select(const std::vector<AddedToken> &tokens, bool normalized) {
  std::vector<AddedToken> selected;
  std::ranges::copy_if(tokens, std::back_inserter(selected),
                       [&](const AddedToken &token) { return token.normalized == normalized; });
  return selected;
}

/// Calls onText for each stretch of `text` between added tokens and onToken for each token, in order, until
/// one returns false, which is then the result. onText receives the offset in `text`.
template <typename OnText, typename OnToken>
bool splitByTokens(const AddedTokens &tokens, std::string_view text, const OnText &onText,
                   const OnToken &onToken) {
  size_t from = 0;
  AddedTokens::Search search(tokens, text);
  while (const auto match = search.next()) {
    if (match->begin > from && !onText(from, text.substr(from, match->begin - from)))
      return false;
    if (!onToken(match->id))
      return false;
    from = match->end;
  }
  return from == text.size() || onText(from, text.substr(from));
}

/// The added tokens with the ids that Hugging Face gives them: those of the vocabulary, else the next ones
/// after its size, in their order. The file's own ids do not count. The later of two with one content counts,
/// and an empty one is never found.
Result<std::vector<AddedToken>> numberAdded(const TokenizerDefinition &definition) {
  const TokenModel &model = *definition.model;
  std::unordered_map<uint32_t, std::string_view> tokens;
  for (const auto &[token, id] : model.vocabulary())
    tokens.emplace(id, token);
  std::vector<AddedToken> numbered;
  StringMap<size_t> places;
  auto next = static_cast<uint32_t>(model.vocabulary().size());
  for (const AddedToken &token : definition.added) {
    if (token.content.empty())
      continue;
    const auto [place, isNew] = places.emplace(token.content, numbered.size());
    const uint32_t id = isNew ? model.find(token.content).value_or(next) : numbered[place->second].id;
    if (!isNew) {
      numbered[place->second] = token;
      numbered[place->second].id = id;
      continue;
    }
    numbered.push_back(token);
    numbered.back().id = id;
    if (model.find(token.content))
      continue;
    ++next;
    if (const auto [other, isFree] = tokens.emplace(id, token.content); !isFree)
      return invalidInput(
          "{}: added_tokens: '{}' gets the id {}, the next after a vocabulary of {} tokens, as Hugging "
          "Face numbers it, but '{}' has it; give the vocabulary ids without holes",
          definition.file, token.content, id, model.vocabulary().size(), other->second);
  }
  return numbered;
}

/// Fails if no token has an id that goes around texts.
Status verifyAround(const TokenizerDefinition &definition) {
  std::unordered_set<uint32_t> ids;
  for (const auto &[token, id] : definition.model->vocabulary())
    ids.insert(id);
  for (const AddedToken &token : definition.added)
    ids.insert(token.id);
  for (const std::vector<uint32_t> *around : {&definition.around.before, &definition.around.after})
    for (const uint32_t id : *around)
      if (!ids.contains(id))
        return invalidInput("{}: post_processor: puts the id {} around texts, which no token has",
                            definition.file, id);
  return {};
}

/// Fails if the decoder makes a long text of a token, as replacements of replacements can.
Status verifyDecoder(const TokenizerDefinition &definition) {
  const auto grows = [](const DecoderStep &step) {
    const auto *replace = std::get_if<ReplaceInToken>(&step);
    return replace && replace->content.size() > replace->pattern.size();
  };
  if (std::ranges::none_of(definition.decoder, grows))
    return {};
  const auto verify = [&](const std::string &token) {
    return StepDecoder(definition.decoder).next(token).size() <= kMaxTokenBytes
               ? Status()
               : invalidInput("{}: decoder: makes more than {} bytes of the token '{}'", definition.file,
                              kMaxTokenBytes, printable(token));
  };
  std::map<uint32_t, std::string> byId;
  for (const auto &[token, id] : definition.model->vocabulary())
    byId.emplace(id, token);
  for (const auto &[id, token] : byId)
    TRAINC_RETURN_IF_ERROR(verify(token));
  for (const AddedToken &token : definition.added)
    TRAINC_RETURN_IF_ERROR(verify(token.content));
  return {};
}

/// The added tokens; those matched in normalized text are normalized. Tokens whose normal form is empty are
/// never matched.
Result<std::vector<AddedToken>> normalizeAdded(const TokenizerDefinition &definition,
                                               const Normalizer &normalizer) {
  std::vector<AddedToken> tokens;
  for (AddedToken token : definition.added) {
    if (token.normalized) {
      TRAINC_ASSIGN_OR_RETURN(NormalText normal, normalizer.apply(token.content, /*continues=*/false));
      token.content = std::move(normal.text);
    }
    if (!token.content.empty())
      tokens.push_back(std::move(token));
  }
  return tokens;
}

} // namespace

/// State of one call of encode(). A method returns false if encoding ended early, with `status` set.
class PipelineTokenizer::Encoding {
public:
  Encoding(PipelineTokenizer &tokenizer, const TextPiece &piece, const Emit &emit)
      : tokenizer_(tokenizer), piece_(piece), emit_(emit) {}

  Status run() {
    const bool complete = splitByTokens(
        tokenizer_.first_, piece_.text,
        [&](size_t at, std::string_view stretch) {
          done_ = at;
          return encodeStretch(stretch, at > 0             ? StretchPlace::kAfter
                                        : piece_.continues ? StretchPlace::kContinues
                                                           : StretchPlace::kFirst);
        },
        [&](uint32_t id) { return add(id); });
    if (complete)
      status_ = emit_(ids_, piece_.text.size());
    return status_;
  }

private:
  /// Encodes a stretch without added tokens of first_. Bytes that are not UTF-8 are words of their own.
  bool encodeStretch(std::string_view stretch, StretchPlace place) {
    while (!stretch.empty()) {
      const size_t valid = utf8Prefix(stretch);
      if (valid > 0 && !normalize(stretch.substr(0, valid), place))
        return false;
      stretch.remove_prefix(valid);
      const size_t invalid = invalidPrefix(stretch);
      if (invalid > 0 && !tokenizer_.model_->encodeInvalid(stretch.substr(0, invalid), ids_))
        return lacksByte();
      stretch.remove_prefix(invalid);
      place = StretchPlace::kContinues;
      done_ += valid + invalid;
    }
    return flush();
  }

  bool normalize(std::string_view text, StretchPlace place) {
    if (tokenizer_.normalizer_.steps().empty())
      return encodeNormalized(text, place);
    const Result<NormalText> normal = tokenizer_.normalizer_.apply(text, place == StretchPlace::kContinues);
    if (!normal.ok()) {
      status_ = normal.status();
      return false;
    }
    // As with Hugging Face, what follows a removed character is not the first of the text.
    if (normal->lostBegin && place == StretchPlace::kFirst)
      place = StretchPlace::kAfter;
    return encodeNormalized(normal->text, place);
  }

  bool encodeNormalized(std::string_view text, StretchPlace place) {
    return splitByTokens(
        tokenizer_.second_, text,
        [&](size_t at, std::string_view section) {
          return tokenizer_.preTokenizer_.forEachWord(
              section, at == 0 ? place : StretchPlace::kAfter, status_, [&](std::string_view word) {
                return tokenizer_.model_->encode(word, ids_) ? flush() : lacksByte();
              });
        },
        [&](uint32_t id) { return add(id); });
  }

  /// Sets the status for a byte that the vocabulary lacks. Words may be copies that were changed, so the byte
  /// is looked for in the text.
  bool lacksByte() {
    const std::string_view rest = piece_.text.substr(done_);
    const auto found = std::ranges::find_if(rest, [&](char byte) { return tokenizer_.model_->lacks(byte); });
    const uint64_t offset = piece_.offset + done_;
    status_ =
        found == rest.end()
            ? invalidInput(
                  "{}: after byte {}: the normalizer of {} makes a byte that its vocabulary has no token "
                  "for; Hugging Face drops it silently: take another tokenizer",
                  piece_.name, offset, tokenizer_.file_)
            : invalidInput(
                  "{}: byte {}: the vocabulary of {} has no token for the byte {:#04x}; Hugging Face "
                  "drops it silently: remove it from the text, or take another tokenizer",
                  piece_.name, offset + static_cast<uint64_t>(found - rest.begin()), tokenizer_.file_,
                  static_cast<unsigned char>(*found));
    return false;
  }

  bool add(uint32_t id) {
    ids_.push_back(id);
    return flush();
  }

  bool flush() {
    if (ids_.size() < kFlushIds)
      return true;
    status_ = emit_(ids_, done_);
    ids_.clear();
    return status_.ok();
  }

  PipelineTokenizer &tokenizer_;
  const TextPiece &piece_;
  const Emit &emit_;
  Status status_;
  std::vector<uint32_t> ids_;
  size_t done_ = 0; ///< bytes of the text before the current stretch
};

class PipelineTokenizer::Decoder : public TokenDecoder {
public:
  explicit Decoder(const PipelineTokenizer &tokenizer)
      : tokenizer_(tokenizer), steps_(tokenizer.decoderSteps_) {}

  std::string next(uint32_t id) override {
    const auto found = tokenizer_.pieces_.find(id);
    if (found == tokenizer_.pieces_.end())
      return "";
    const auto &[text, added] = found->second;
    return added && tokenizer_.units_ != Units::kCharacters ? text : steps_.next(text);
  }

private:
  const PipelineTokenizer &tokenizer_;
  StepDecoder steps_;
};

Result<std::unique_ptr<Tokenizer>> PipelineTokenizer::create(TokenizerDefinition definition,
                                                             uint64_t fingerprint) {
  TRAINC_ASSIGN_OR_RETURN(definition.added, numberAdded(definition));
  TRAINC_RETURN_IF_ERROR(verifyAround(definition));
  Normalizer normalizer(std::move(definition.normalizer), definition.file);
  TRAINC_ASSIGN_OR_RETURN(std::vector<AddedToken> added, normalizeAdded(definition, normalizer));
  TRAINC_RETURN_IF_ERROR(verifyDecoder(definition));
  return std::unique_ptr<Tokenizer>(
      new PipelineTokenizer(std::move(definition), std::move(normalizer), std::move(added), fingerprint));
}

PipelineTokenizer::PipelineTokenizer(TokenizerDefinition definition, Normalizer normalizer,
                                     std::vector<AddedToken> added, uint64_t fingerprint)
    : model_(std::move(definition.model)), normalizer_(std::move(normalizer)),
      preTokenizer_(std::move(definition.preTokenizer), definition.file), first_(select(added, false)),
      second_(select(added, true)), cutPlaces_(findCutPlaces(normalizer_, preTokenizer_, added, *model_)),
      around_(std::move(definition.around)), file_(std::move(definition.file)), fingerprint_(fingerprint),
      units_(definition.units), decoderSteps_(std::move(definition.decoder)) {
  const auto add = [&](uint32_t id, Piece piece) {
    vocabulary_ = std::max(vocabulary_, uint64_t{id} + 1);
    pieces_.insert_or_assign(id, std::move(piece));
  };
  for (const auto &[token, id] : model_->vocabulary())
    add(id, {token, false});
  for (const AddedToken &token : definition.added) {
    add(token.id, {token.content, true});
    added_.emplace(token.content, token.id);
  }
  for (const AddedToken &token : added) // the decoder undoes the normalizer
    add(token.id, {token.content, true});
}

Status PipelineTokenizer::encode(const TextPiece &piece, const Emit &emit) {
  return Encoding(*this, piece, emit).run();
}

std::unique_ptr<TokenDecoder> PipelineTokenizer::decoder() const { return std::make_unique<Decoder>(*this); }

std::optional<uint32_t> PipelineTokenizer::findToken(std::string_view content) const {
  const auto found = added_.find(content);
  return found == added_.end() ? model_->find(content) : std::optional(found->second);
}

} // namespace trainc

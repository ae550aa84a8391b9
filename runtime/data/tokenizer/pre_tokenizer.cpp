#include "runtime/data/tokenizer/pre_tokenizer.h"

#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/unicode.h"

namespace trainc {

namespace {

/// Joins matches and the text between them according to a behaviour, and passes on the pieces.
template <typename OnPiece> class Joiner {
public:
  Joiner(SplitBehavior behavior, const OnPiece &onPiece) : behavior_(behavior), onPiece_(onPiece) {}

  bool add(size_t begin, size_t end, bool isMatch) {
    if (behavior_ == SplitBehavior::kIsolated || behavior_ == SplitBehavior::kRemoved)
      return (isMatch && behavior_ == SplitBehavior::kRemoved) || onPiece_(begin, end);
    const bool join = held_ && joins(isMatch);
    lastIsMatch_ = isMatch;
    if (join) {
      end_ = end;
      return true;
    }
    if (!finish())
      return false;
    held_ = true;
    begin_ = begin;
    end_ = end;
    return true;
  }
  bool finish() { return !held_ || onPiece_(begin_, end_); }

private:
  bool joins(bool isMatch) const {
    switch (behavior_) {
    case SplitBehavior::kContiguous:
      return isMatch == lastIsMatch_;
    case SplitBehavior::kMergedWithPrevious:
      return isMatch && !lastIsMatch_;
    case SplitBehavior::kMergedWithNext:
      return !isMatch && lastIsMatch_;
    case SplitBehavior::kRemoved:
    case SplitBehavior::kIsolated:
      break;
    }
    return false;
  }

  SplitBehavior behavior_;
  const OnPiece &onPiece_;
  bool held_ = false, lastIsMatch_ = false;
  size_t begin_ = 0, end_ = 0; ///< the piece held back, to which more may be joined
};

std::string withMetaspaces(const Metaspace &step, std::string_view text) {
  std::string out;
  out.reserve(text.size() + step.replacement.size());
  for (size_t position = 0;;) {
    const size_t space = text.find(' ', position);
    out.append(text.substr(position, space - position));
    if (space == std::string_view::npos)
      return out;
    out += step.replacement;
    position = space + 1;
  }
}

} // namespace

struct PreTokenizer::Run {
  StretchPlace place;
  Status &status;
  const OnWord &onWord;
  size_t textBytes;
  size_t bytesLeft; ///< to be given to steps, all together
};

bool PreTokenizer::forEachWord(std::string_view text, StretchPlace place, Status &status,
                               const OnWord &onWord) const {
  // Steps may put something before each piece and split it off again, so that pieces double with every step.
  constexpr size_t kMaxGrowth = 32, kMaxPrefix = 1024;
  const size_t maxBytes = (steps_.size() + 1) * (kMaxGrowth * text.size() + kMaxPrefix);
  Run all{place, status, onWord, text.size(), maxBytes};
  return run(0, text, /*atStart=*/true, all);
}

/// `atStart`: the piece `text` begins the stretch.
bool PreTokenizer::run(size_t step, std::string_view text, bool atStart, Run &all) const {
  if (text.empty())
    return true;
  if (text.size() > all.bytesLeft) {
    all.status = invalidInput(
        "{}: pre_tokenizer: its steps make far more of {} bytes of text; expected words of about as "
        "many bytes",
        file_, all.textBytes);
    return false;
  }
  all.bytesLeft -= text.size();
  if (step == steps_.size())
    return all.onWord(text);
  if (const auto *split = std::get_if<Split>(&steps_[step])) {
    const auto onPiece = [&](size_t begin, size_t end) {
      return run(step + 1, text.substr(begin, end - begin), atStart && begin == 0, all);
    };
    Joiner joiner(split->behavior, onPiece);
    return split->pattern.forEachPart(text, all.status, [&](size_t begin, size_t end, bool isMatch) {
      return joiner.add(begin, end, isMatch != split->invert);
    }) && joiner.finish();
  }
  const bool mayPrefix = !atStart || all.place != StretchPlace::kContinues;
  std::string changed;
  if (std::holds_alternative<PrefixSpace>(steps_[step])) {
    if (!mayPrefix || text.starts_with(' '))
      return run(step + 1, text, atStart, all);
    changed.append(" ").append(text);
  } else if (std::holds_alternative<ToByteAlphabet>(steps_[step])) {
    changed = inByteAlphabet(text);
  } else {
    const auto &metaspace = std::get<Metaspace>(steps_[step]);
    changed = withMetaspaces(metaspace, text);
    const bool before =
        metaspace.before == Metaspace::Before::kAlways
            ? mayPrefix
            : metaspace.before == Metaspace::Before::kFirst && atStart && all.place == StretchPlace::kFirst;
    if (before && !changed.starts_with(metaspace.replacement))
      changed.insert(0, metaspace.replacement);
  }
  return run(step + 1, changed, atStart, all);
}

} // namespace trainc

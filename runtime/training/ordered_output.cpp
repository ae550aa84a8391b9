#include "runtime/training/ordered_output.h"

#include <utility>

namespace trainc {

void OrderedOutput::add(size_t text, std::string_view piece) {
  Text &to = texts_[text];
  to.held += piece;
  to.hasPieces = true;
  if (text == first_)
    print(to);
}

void OrderedOutput::end(size_t text) {
  Text &ended = texts_[text];
  if (ended.hasEnded)
    return;
  if (ended.hasPieces)
    add(text, "\n");
  ended.hasEnded = true;
  while (first_ < texts_.size() && texts_[first_].hasEnded) {
    print(texts_[first_]);
    needsBreak_ |= texts_[first_].hasPieces;
    if (++first_ < texts_.size())
      print(texts_[first_]);
  }
}

void OrderedOutput::print(Text &text) {
  if (text.held.empty() || !status_.ok())
    return;
  if (std::exchange(needsBreak_, false))
    status_ = print_("\n");
  if (status_.ok())
    status_ = print_(std::exchange(text.held, {}));
}

} // namespace trainc

// Output of texts that are generated at once, in the order of their prompts.
#pragma once

#include "base/status.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Prints texts in their order, with an empty line between two texts. Pieces of the first text that has not
/// ended are printed at once, and pieces of later texts are held back until it is their turn.
class OrderedOutput {
public:
  using Print = std::function<Status(std::string_view)>;

  OrderedOutput(size_t texts, Print print) : texts_(texts), print_(std::move(print)) {}

  /// Adds a piece to a text. A text without pieces prints nothing.
  void add(size_t text, std::string_view piece);
  /// Ends a text, with a line break if the text has pieces; does nothing if it has ended.
  void end(size_t text);

  /// The first error of printing. Nothing is printed after an error.
  const Status &status() const { return status_; }

private:
  struct Text {
    std::string held; ///< pieces that are not printed yet
    bool hasPieces = false, hasEnded = false;
  };
  void print(Text &text);

  std::vector<Text> texts_;
  Print print_;
  size_t first_ = 0;        ///< the first text that has not ended
  bool needsBreak_ = false; ///< whether an empty line precedes the next text
  Status status_;
};

} // namespace trainc

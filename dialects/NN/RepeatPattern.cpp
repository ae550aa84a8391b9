// Composition and splitting of patterns.
#include "dialects/NN/RepeatPattern.h"

#include <numeric>

using llvm::ArrayRef;
using namespace trainc::nn;

void RepeatPattern::append(Run run) {
  if (run.size == 1)
    return;
  if (!runs.empty() && runs.back().kept == run.kept)
    runs.back().size *= run.size;
  else
    runs.push_back(run);
}

RepeatPattern RepeatPattern::identity(int64_t count) {
  RepeatPattern pattern;
  pattern.append({count, true});
  return pattern;
}

RepeatPattern RepeatPattern::scalar(int64_t count) {
  RepeatPattern pattern;
  pattern.append({count, false});
  return pattern;
}

RepeatPattern RepeatPattern::broadcast(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  RepeatPattern pattern;
  size_t missing = to.size() - from.size();
  for (size_t dim = 0; dim < to.size(); ++dim)
    pattern.append({to[dim], dim >= missing && from[dim - missing] == to[dim]});
  return pattern;
}

std::optional<RepeatPattern> RepeatPattern::compose(const RepeatPattern &inner) const {
  RepeatPattern result;
  size_t next = 0;
  Run current{1, true};
  for (Run run : runs) {
    if (!run.kept) {
      result.append(run);
      continue;
    }
    for (int64_t left = run.size; left > 1;) {
      if (current.size == 1)
        current = inner.runs[next++];
      int64_t common = std::min(left, current.size);
      if (left % common != 0 || current.size % common != 0)
        return std::nullopt;
      result.append({common, current.kept});
      left /= common;
      current.size /= common;
    }
  }
  return result;
}

RepeatPattern RepeatPattern::repeatedAlongColumns(int64_t times) const {
  RepeatPattern result = *this;
  result.append({times, false});
  return result;
}

std::optional<RepeatPattern::Parts> RepeatPattern::split(int64_t columns) const {
  int64_t rowsLeft = count() / columns;
  if (rowsLeft * columns != count())
    return std::nullopt;
  Parts parts;
  for (Run run : runs) {
    const int64_t rowFactor = std::gcd(run.size, rowsLeft), columnFactor = run.size / rowFactor;
    rowsLeft /= rowFactor;
    if (rowsLeft > 1 && columnFactor > 1)
      return std::nullopt;
    parts.rows.append({rowFactor, run.kept});
    parts.columns.append({columnFactor, run.kept});
  }
  return parts;
}

int64_t RepeatPattern::elements() const {
  int64_t elements = 1;
  for (Run run : runs)
    elements *= run.kept ? run.size : 1;
  return elements;
}

int64_t RepeatPattern::count() const {
  int64_t count = 1;
  for (Run run : runs)
    count *= run.size;
  return count;
}

bool RepeatPattern::isIdentity() const { return runs.empty() || (runs.size() == 1 && runs[0].kept); }

bool RepeatPattern::isPerRow(int64_t rows, int64_t columns) const {
  return *this == identity(rows).repeatedAlongColumns(columns);
}

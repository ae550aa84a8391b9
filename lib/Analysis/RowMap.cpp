// Arithmetic on row maps.
#include "lib/Analysis/IterationSpace.h"

using namespace trainc;

int64_t RowMap::rows() const {
  int64_t count = 1;
  for (const Term &term : terms)
    count *= term.size;
  return count;
}

void RowMap::append(Term term) {
  if (term.size == 1)
    return;
  if (!terms.empty() && terms.back().divisor == term.divisor * term.size)
    terms.back() = {term.divisor, terms.back().size * term.size};
  else
    terms.push_back(term);
}

std::optional<llvm::SmallVector<RowMap::Term>> RowMap::split(llvm::ArrayRef<int64_t> dims) const {
  llvm::SmallVector<Term> pieces(dims.size(), Term{1, 1});
  llvm::SmallVector<Term> rest(terms.begin(), terms.end());
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1)
      continue;
    if (rest.empty() || dims[i] == 0 || rest.back().size % dims[i] != 0)
      return std::nullopt;
    pieces[i] = {rest.back().divisor, dims[i]};
    rest.back().divisor *= dims[i];
    rest.back().size /= dims[i];
    if (rest.back().size == 1)
      rest.pop_back();
  }
  if (!rest.empty())
    return std::nullopt;
  return pieces;
}

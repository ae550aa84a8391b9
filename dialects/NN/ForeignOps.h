// Names that other frameworks have for ops, and what takes their place here. Free of MLIR.
#pragma once

#include <span>
#include <string_view>

namespace trainc {

struct ForeignOp {
  /// In lower case, without `_` and without modules such as `torch.`. A `*` stands for any text.
  std::string_view name;
  /// A clause that names the op to write, or says that there is none.
  std::string_view advice;
};

/// The table, in the order of names.
std::span<const ForeignOp> foreignOps();

/// Returns the advice on an op in the spelling of a user, such as `nn.Conv2d`, `F.leaky_relu` or `chunk`;
/// empty for names that are not in the table.
std::string_view adviceOnForeignOp(std::string_view name);

} // namespace trainc

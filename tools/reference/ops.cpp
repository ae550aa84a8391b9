#include "tools/language/op_reference.h"
#include "tools/reference/markdown.h"
#include "tools/reference/tables.h"

namespace trainc {

std::string opsTable(std::string_view page, std::string_view examples) {
  std::vector<std::vector<std::string>> rows;
  for (const OpReference &op : readOps(page, examples))
    rows.push_back({code(op.syntax.empty() ? op.name : op.syntax), prose(op.summary)});
  return rows.empty() ? "" : table("form|meaning", rows);
}

} // namespace trainc

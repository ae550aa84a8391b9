#include "base/exit_codes.h"

#include "tools/reference/markdown.h"
#include "tools/reference/tables.h"

namespace trainc {

std::string exitCodesTable() {
  std::vector<std::vector<std::string>> rows;
  for (const ExitCodeMeaning &each : kExitCodes)
    rows.push_back({std::to_string(each.code), std::string(each.meaning), prose(each.causes)});
  return table("code|meaning|causes", rows);
}

} // namespace trainc

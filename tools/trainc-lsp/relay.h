// Messages of the language server protocol on their way between an editor and a server.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace trainc {

/// Passes on what comes from `from` until it ends. Each message, which is `Content-Length: N`, an empty line
/// and N bytes, becomes what `change` makes of its N bytes. Other lines pass as they are. Returns early if
/// nobody reads `to` any more.
void relay(std::FILE *from, std::FILE *to, const std::function<std::string(std::string)> &change);

} // namespace trainc

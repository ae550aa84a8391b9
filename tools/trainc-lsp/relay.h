// Forwarding of language server messages between an editor and a server.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace trainc {

/// Forwards messages from `from` to `to` until `from` ends. A message is `Content-Length: N`, an empty line
/// and N bytes of content, which `change` replaces. Other lines are forwarded unchanged. Returns early if the
/// reader of `to` has closed it.
void relay(std::FILE *from, std::FILE *to, const std::function<std::string(std::string)> &change);

} // namespace trainc

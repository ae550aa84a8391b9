// Forwarding of language server messages between an editor and a server.
#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace trainc {

/// Replaces a message's content; nothing if it is not forwarded.
using ChangeMessage = std::function<std::optional<std::string>(std::string)>;

/// Forwards messages from `from` to `to` until `from` ends. A message is `Content-Length: N`, an empty line
/// and N bytes of content, which `change` replaces. Other lines are forwarded unchanged. Returns early if the
/// reader of `to` has closed it.
void relay(std::FILE *from, std::FILE *to, const ChangeMessage &change);

/// Writes a message. Several threads may write to one file.
void writeMessage(std::FILE *to, const std::string &content);

} // namespace trainc

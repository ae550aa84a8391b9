// Ranks that meet over TCP at this host.
#pragma once

#include "runtime/comm/tcp/tcp_communicator.h"

#include <functional>
#include <memory>

namespace trainc::test {

/// A port that nothing uses just now.
uint16_t freePort();

TcpPlace tcpPlace(uint32_t rank, uint32_t ranks, uint16_t port);

/// Runs each rank as a thread, with its place modified by `change`; `made` receives the result of create().
void onTcpRanks(uint32_t ranks, double timeoutSeconds, const std::function<void(TcpPlace &)> &change,
                const std::function<void(uint32_t rank, Result<std::unique_ptr<Communicator>>)> &made);
/// The same, where all meet.
void onTcpRanks(uint32_t ranks, double timeoutSeconds, const std::function<void(Communicator &)> &body);

} // namespace trainc::test

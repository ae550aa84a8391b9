// trainc-lsp: a language server for model files and the compiler's IR: errors as you type, hover,
// definitions. MLIR's server runs in a process of its own. What it and the editor say passes through this
// one, which puts errors in models into the words of `trainc compile`.
#include "lib/Pipelines/Pipeline.h"
#include "tools/common/llvm_tools.h"
#include "tools/trainc-lsp/conversation.h"
#include "tools/trainc-lsp/relay.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/thread.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// The parser recurses, and one text among many must not end the server: room for some 100,000 levels.
constexpr std::optional<unsigned> kStackBytes = 1U << 30;

void runWithStack(llvm::function_ref<void()> work) {
  llvm::thread thread(kStackBytes, [=] { work(); });
  thread.join();
}

int fail(const char *what) {
  std::perror(what);
  return 1;
}

int serve(int argc, char **argv, mlir::DialectRegistry &registry) {
  bool failed = false;
  runWithStack([&] { failed = mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)); });
  return failed;
}

/// Ends the process after both directions of a conversation: when the server has ended and all that it said
/// has arrived.
[[noreturn]] void mediate(pid_t server, std::FILE *toServer, std::FILE *fromServer,
                          const mlir::DialectRegistry &registry) {
  std::signal(SIGPIPE, SIG_IGN); // a server that ended reads no more
  trainc::Conversation conversation(registry);
  llvm::thread listener(kStackBytes, [&] { // messages may be as deep as texts
    trainc::relay(stdin, toServer, [&](std::string message) { return conversation.fromEditor(message); });
    std::fclose(toServer);
  });
  listener.detach(); // an editor may stay silent for ever
  runWithStack([&] {
    trainc::relay(fromServer, stdout, [&](std::string message) { return conversation.fromServer(message); });
  });
  std::fclose(fromServer); // a server that speaks on to an editor that is gone must not wait for it
  int status = 0;
  if (waitpid(server, &status, 0) != server)
    std::_Exit(fail("trainc-lsp: waitpid"));
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1); // what listens to the editor may still do so
}

} // namespace

int main(int argc, char **argv) {
  trainc::hideLibraryOptions();
  mlir::DialectRegistry registry;
  trainc::registerDialects(registry);
  std::array<int, 2> toServer, fromServer;
  if (pipe2(toServer.data(), O_CLOEXEC) != 0 || pipe2(fromServer.data(), O_CLOEXEC) != 0)
    return fail("trainc-lsp: pipe2");
  const pid_t server = fork();
  if (server < 0)
    return fail("trainc-lsp: fork");
  if (server == 0) {
    dup2(toServer[0], STDIN_FILENO);
    dup2(fromServer[1], STDOUT_FILENO);
    for (int end : {toServer[0], toServer[1], fromServer[0], fromServer[1]})
      if (end > STDERR_FILENO) // else it is one of the two, whose place was free
        close(end);
    return serve(argc, argv, registry);
  }
  close(toServer[0]);
  close(fromServer[1]);
  mediate(server, fdopen(toServer[1], "w"), fdopen(fromServer[0], "r"), registry);
}

// trainc-lsp: a language server for model files and the compiler's IR: diagnostics, hover, definitions.
// MLIR's server runs in a child process. This process forwards the messages between the server and the
// editor, and replaces diagnostics of models by those of `trainc compile`.
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

/// The parser is recursive, and one text must not crash the server: stack for about 100,000 levels.
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

/// Ends the process once the server has ended and all its messages were forwarded.
[[noreturn]] void mediate(pid_t server, std::FILE *toServer, std::FILE *fromServer,
                          const mlir::DialectRegistry &registry) {
  std::signal(SIGPIPE, SIG_IGN); // the server may have ended
  trainc::Conversation conversation(registry);
  llvm::thread listener(kStackBytes, [&] { // JSON may be nested as deeply as the texts
    trainc::relay(stdin, toServer, [&](std::string message) {
      trainc::EditorMessage forwarded = conversation.fromEditor(std::move(message));
      if (forwarded.answer)
        trainc::writeMessage(stdout, *forwarded.answer);
      return std::move(forwarded.toServer);
    });
    std::fclose(toServer);
  });
  listener.detach(); // an editor may stay silent forever
  runWithStack([&] {
    trainc::relay(fromServer, stdout, [&](std::string message) { return conversation.fromServer(message); });
  });
  std::fclose(fromServer); // a server must not block on an editor that is gone
  int status = 0;
  if (waitpid(server, &status, 0) != server)
    std::_Exit(fail("trainc-lsp: waitpid"));
  // the thread that listens to the editor may still run
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
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
      if (end > STDERR_FILENO) // otherwise the descriptor is one of the two, which was free
        close(end);
    return serve(argc, argv, registry);
  }
  close(toServer[0]);
  close(fromServer[1]);
  mediate(server, fdopen(toServer[1], "w"), fdopen(fromServer[0], "r"), registry);
}

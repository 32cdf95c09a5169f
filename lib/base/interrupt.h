// Being told to stop (^C, kill, a closed terminal or pipe): end what we started, unwind so that temporary folders go,
// and die by that signal, which is how a shell or CI learns of it. run_tool() does the first and the last step;
// run_process() and run_isolated() the one between: they end their child and throw Interrupted.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <exception>

namespace whittle {

/// Thrown where a child was ended early because we are to stop. Never an Error: there is no mistake to print.
class Interrupted final : public std::exception {
  public:
    const char* what() const noexcept override { return "interrupted"; }
};

/// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE are noted while there is something to clean up, and end us at once
/// otherwise or when they come again. A signal that was ignored before (nohup) stays ignored.
void handle_interrupts();

/// In a forked child: forgets what the parent started; SIGTERM ends what the child itself started, then the child.
void handle_interrupts_in_child();

/// The signal that told us to stop; 0: none did.
int interrupt_signal();
/// One did.
bool interrupted();

/// Whether a signal told us to stop, or the work of this thread is not wanted any more.
bool told_to_stop();

/// Throws Interrupted when so.
void throw_if_interrupted();

/// While it lives, this thread is told to stop once `unwanted` is true.
class WantedScope {
  public:
    explicit WantedScope(const std::atomic<bool>& unwanted);
    ~WantedScope();
    WantedScope(const WantedScope&) = delete;
    WantedScope& operator=(const WantedScope&) = delete;
};

/// Dies by interrupt_signal(), which must not be 0.
[[noreturn]] void die_of_interrupt();

/// While it lives, an interrupt waits for us to clean up, and is sent on as SIGTERM to the process group `group`
/// (0: there is none).
class CleanUpScope {
  public:
    explicit CleanUpScope(pid_t group = 0);
    ~CleanUpScope();
    CleanUpScope(const CleanUpScope&) = delete;
    CleanUpScope& operator=(const CleanUpScope&) = delete;

  private:
    int slot_ = -1;
};

/// While it lives, ^C is for the program in the foreground that we wait for: the terminal tells the two of us, and it
/// decides. SIGINT that somebody sent to us alone still is for us.
class SharedTerminalScope {
  public:
    SharedTerminalScope();
    ~SharedTerminalScope();
    SharedTerminalScope(const SharedTerminalScope&) = delete;
    SharedTerminalScope& operator=(const SharedTerminalScope&) = delete;
};

}  // namespace whittle

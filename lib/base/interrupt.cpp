#include "base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace whittle {
namespace {

// Read by the signal handler: nothing here may lock.
std::atomic<int> received{0}, scopes{0}, shared_terminals{0};
std::array<std::atomic<pid_t>, 512> groups{};  // more than the jobs of any tool; a group without a slot is not told
static_assert(std::atomic<pid_t>::is_always_lock_free);

thread_local const std::atomic<bool>* is_unwanted = nullptr;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

void end_groups() {
    for (const auto& group : groups)
        if (const pid_t id = group.load(); id > 0) ::kill(-id, SIGTERM);
}

/// As if there had been no handler. In a handler the signal is blocked and arrives when it returns.
void die(int signal) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void note(int signal, siginfo_t* info, void*) {
    if (signal == SIGINT && info->si_code == SI_KERNEL && shared_terminals.load() > 0) return;
    const int code = errno;
    end_groups();
    if (received.exchange(signal) != 0 || scopes.load() == 0) die(signal);
    errno = code;
}

void end_child(int signal, siginfo_t*, void*) {
    end_groups();
    die(signal);
}

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO;  // no SA_RESTART: poll() and read() come back to look
    ::sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_interrupts() {
    for (const int signal : kSignals) {
        struct sigaction before {};
        ::sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_IGN) install(signal, note);
    }
}

void handle_interrupts_in_child() {
    for (auto& group : groups) group = 0;
    scopes = 0;
    received = 0;
    for (const int signal : kSignals) {
        struct sigaction before {};
        ::sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
    }
    install(SIGTERM, end_child);
}

int interrupt_signal() { return received; }

bool interrupted() { return interrupt_signal() != 0; }

bool told_to_stop() { return interrupted() || (is_unwanted && *is_unwanted); }

WantedScope::WantedScope(const std::atomic<bool>& unwanted) { is_unwanted = &unwanted; }
WantedScope::~WantedScope() { is_unwanted = nullptr; }

void throw_if_interrupted() {
    if (told_to_stop()) throw Interrupted();
}

void die_of_interrupt() {
    die(interrupt_signal());
    ::_exit(128 + interrupt_signal());  // the signal was blocked
}

SharedTerminalScope::SharedTerminalScope() { ++shared_terminals; }
SharedTerminalScope::~SharedTerminalScope() { --shared_terminals; }

CleanUpScope::CleanUpScope(pid_t group) {
    ++scopes;
    if (group <= 0) return;
    for (std::size_t i = 0; i < groups.size() && slot_ < 0; ++i) {
        pid_t free = 0;
        if (groups[i].compare_exchange_strong(free, group)) slot_ = static_cast<int>(i);
    }
}

CleanUpScope::~CleanUpScope() {
    if (slot_ >= 0) groups[static_cast<std::size_t>(slot_)] = 0;
    --scopes;
}

}  // namespace whittle

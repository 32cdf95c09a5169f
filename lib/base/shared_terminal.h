// Interrupts (base/interrupt.h) while another program has the terminal, too.
#pragma once

namespace whittle {

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

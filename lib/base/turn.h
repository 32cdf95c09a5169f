// fork() copies the locks of all threads and one thread alone: a lock that another thread held at that moment (of the
// allocator, of a static variable being made) stays locked in the child for ever. So threads that start processes take
// turns: one of them works at a time and gives its turn away only where it waits, for a process mostly. What is
// parallel is the processes.
#pragma once

namespace whittle {

/// This thread's turn while it lives; the constructor waits for it. Every thread beside one that starts processes holds
/// one whenever it does not wait. Not to be taken twice by a thread.
class Turn {
  public:
    Turn();
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
};

/// Gives this thread's turn away while it lives; the destructor waits for it. Nothing where the thread has none. To be
/// used around every wait for another thread and for every lock that is held while a process is waited for: who waits
/// for those with a turn in hand waits for ever.
class TurnPause {
  public:
    TurnPause();
    ~TurnPause();
    TurnPause(const TurnPause&) = delete;
    TurnPause& operator=(const TurnPause&) = delete;

  private:
    bool had_;
};

}  // namespace whittle

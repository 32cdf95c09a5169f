#include "base/turn.h"

#include <mutex>

namespace whittle {
namespace {

std::mutex turns;
thread_local bool mine = false;

void take() {
    turns.lock();
    mine = true;
}

void give_away() {
    mine = false;
    turns.unlock();
}

}  // namespace

Turn::Turn() { take(); }
Turn::~Turn() { give_away(); }

TurnPause::TurnPause() : had_(mine) {
    if (had_) give_away();
}
TurnPause::~TurnPause() {
    if (had_) take();
}

}  // namespace whittle

#include "cli/profile.h"

#include "debug/profile.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// What can be run, with its inputs; nothing where nobody asked for that.
std::vector<LoadedFrame> runnable(const fs::path& model, const SubjectOptions& options, const ProfileWish& wish,
                                  const debug::Subject& subject) {
    const bool by_itself = wish.times && !is_run(recognize(model));
    if (subject.runnable.empty() && !by_itself) return {};
    return load_model(subject.runnable.empty() ? model : subject.runnable,
                      {.inputs = options.inputs, .keep_unknown = true});
}

}  // namespace

void add_profile(const fs::path& model, const SubjectOptions& options, const ProfileWish& wish,
                 debug::Subject& subject) {
    if (!wish.times && !wish.page) return;
    const std::vector<LoadedFrame> frames = runnable(model, options, wish, subject);
    debug::add_profile(subject, frames.empty() ? Profile() : debug::profile(frames, options.suspect(), wish.page));
    if (frames.size() > debug::kMostProfiled && subject.index)
        subject.index->notes.push_back("times are those of the first " + std::to_string(debug::kMostProfiled) +
                                       " graphs");
}

}  // namespace whittle::cli

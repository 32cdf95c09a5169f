#include "cli/profile.h"

namespace whittle::cli {
namespace fs = std::filesystem;

ProfileWish wish_of(const ReportOptions& report, const PictureOptions& pictures, SubjectOptions& subject) {
    const ProfileWish wish{.times = report.times || pictures.timeline, .page = pictures.html.has_value()};
    subject.times = wish.times || wish.page;
    return wish;
}

std::optional<Profile> measured(const fs::path& model, const SubjectOptions& options, const ProfileWish& wish) {
    const bool known = wish.times ? !options.minify || !options.backend.name.empty() : !options.backend.name.empty();
    if ((!wish.times && !wish.page) || !known || is_run(recognize(model))) return std::nullopt;
    return report::profile(load_model(model, {.inputs = options.inputs, .keep_unknown = true}), options.suspect(),
                           wish.page);
}

void add_profile(const SubjectOptions& options, const ProfileWish& wish, std::optional<Profile> measured,
                 report::Subject& subject) {
    if (!wish.times && !wish.page) return;
    if (!measured && !subject.runnable.empty())
        measured = report::profile(load_model(subject.runnable, {.inputs = options.inputs, .keep_unknown = true}),
                                   options.suspect(), wish.page);
    report::add_profile(subject, measured ? std::move(*measured) : Profile());
}

}  // namespace whittle::cli

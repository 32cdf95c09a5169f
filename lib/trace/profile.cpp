#include "trace/profile.h"

#include "formats/shared_fields.h"

namespace whittle {

std::vector<TimeSpan> told(const std::vector<Span>& spans) {
    std::vector<TimeSpan> all;
    for (const Span& span : spans)
        all.push_back({.kind = std::string(name(span.kind)),
                       .name = span.name,
                       .graph = span.graph,
                       .from = span.from,
                       .start = span.start,
                       .seconds = span.seconds,
                       .thread = span.thread});
    return all;
}

Profile profile_of_json(std::string text) {
    const Document document(std::move(text), "profile");
    const JsonReader reader{document};
    return Form<Profile>::read(reader, document.root(), {});
}

}  // namespace whittle

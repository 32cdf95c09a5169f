// A listener to be preloaded: prints the events of the functions named in $LISTEN_TO, or of all (*), to stderr.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe/probe.h"

namespace {

using File = const whittle_probe_file*;
using Value = const whittle_probe_value*;

thread_local whittle_probe_cursor cursor;

void tell(const char* what, Value v) {
    ::flockfile(stderr);  // other threads tell their events, too
    std::fprintf(stderr, "    %s %s", what, v->name);
    if (v->element >= 0) std::fprintf(stderr, "[%lld]", v->element);
    if (v->kind == WHITTLE_PROBE_BOOL || v->kind == WHITTLE_PROBE_INTEGER) std::fprintf(stderr, " = %lld", v->integer);
    if (v->kind == WHITTLE_PROBE_FLOAT) std::fprintf(stderr, " = %g", v->real);
    if (v->kind == WHITTLE_PROBE_TEXT) std::fprintf(stderr, " = '%.*s'", static_cast<int>(v->text_size), v->text);
    if (v->kind == WHITTLE_PROBE_TENSOR) std::fprintf(stderr, " = tensor %g", *static_cast<const float*>(v->tensor));
    std::fprintf(stderr, "\n");
    ::funlockfile(stderr);
}

whittle_probe_cursor* enter(File file, unsigned function) {
    const char* wanted = std::getenv("LISTEN_TO");
    if (!wanted || !(*wanted == '*' || std::strstr(wanted, file->functions[function].name))) return nullptr;
    std::fprintf(stderr, "enter %s\n", file->functions[function].name);
    return &cursor;
}
void parameter(File, unsigned, Value v) { tell("parameter", v); }
void result(File, unsigned, Value) {}
void leave(File file, unsigned function, int by_exception) {
    std::fprintf(stderr, "%s %s\n", by_exception ? "thrown out of" : "leave", file->functions[function].name);
}
void statement(File file, unsigned site) {
    const whittle_probe_range& r = file->sites[site].range;
    std::fprintf(stderr, "  %u:%u-%u:%u %s\n", r.line, r.column, r.end_line, r.end_column, file->sites[site].text);
}
void name(File, unsigned, Value v) { tell("name", v); }
void before_branch(File, unsigned) {}
void branch(File file, unsigned site, long long value) {
    std::fprintf(stderr, "    %s (%s) gave %lld\n", file->sites[site].what, file->sites[site].text, value);
}
void effect(File file, unsigned site) {
    std::fprintf(stderr, "    %s: %s\n", file->sites[site].what, file->sites[site].text);
}

}  // namespace

extern "C" const whittle_probe_table whittle_probe_ops = {WHITTLE_PROBE_VERSION,
                                                          sizeof(whittle_probe_table),
                                                          enter,
                                                          parameter,
                                                          result,
                                                          leave,
                                                          statement,
                                                          name,
                                                          before_branch,
                                                          branch,
                                                          effect};

// Probes of `trace cc`: what they tell goes to the capture library.
#include "frontends/libtorch/capture/stub.h"
#include "probe/probe.h"

using namespace whittle::libtorch;

// A program of Whittle's own API has a listener itself; where that lies in a library, ours stands before it.
static const whittle_probe_table* own_listener() {
    static const auto* const next = static_cast<const whittle_probe_table*>(dlsym(RTLD_NEXT, "whittle_probe_ops"));
    return next;
}
static whittle_probe_cursor* probe_enter(const whittle_probe_file* file, unsigned function) {
    static __thread whittle_probe_cursor cursor;
    if (const auto* own = own_listener()) return own->enter(file, function);
    if (!hooks.probe_enter) return nullptr;
    hooks.probe_enter(file->functions[function].name);
    return &cursor;
}
static void probe_value(const whittle_probe_value* value, int is_parameter) {
    if (value->kind == WHITTLE_PROBE_TORCH_TENSOR && hooks.probe_name)
        hooks.probe_name(value->tensor, value->name, value->element, is_parameter);
}
static void probe_parameter(const whittle_probe_file* file, unsigned function, const whittle_probe_value* value) {
    if (const auto* own = own_listener()) return own->parameter(file, function, value);
    probe_value(value, 1);
    if (hooks.probe_value) hooks.probe_value(value);
}
static void ignore_result(const whittle_probe_file*, unsigned, const whittle_probe_value*) {}
static void probe_leave(const whittle_probe_file* file, unsigned function, int by_exception) {
    if (const auto* own = own_listener()) return own->leave(file, function, by_exception);
    if (hooks.probe_leave) hooks.probe_leave();
}
static void probe_variable(const whittle_probe_file* file, unsigned site, const whittle_probe_value* value) {
    if (const auto* own = own_listener()) return own->name(file, site, value);
    probe_value(value, 0);
}
static void probe_before_branch(const whittle_probe_file* file, unsigned site) {
    if (const auto* own = own_listener()) own->before_branch(file, site);
}
static void probe_branch(const whittle_probe_file* file, unsigned site, long long value) {
    if (const auto* own = own_listener()) return own->branch(file, site, value);
    if (hooks.probe_branch) hooks.probe_branch(file, site, value);
}
static void probe_effect(const whittle_probe_file* file, unsigned site) {
    if (const auto* own = own_listener()) own->effect(file, site);
}
extern "C" __attribute__((visibility("default")))
const whittle_probe_table whittle_probe_ops = {WHITTLE_PROBE_VERSION,
                                               sizeof(whittle_probe_table),
                                               probe_enter,
                                               probe_parameter,
                                               ignore_result,
                                               probe_leave,
                                               nullptr,
                                               probe_variable,
                                               probe_before_branch,
                                               probe_branch,
                                               probe_effect};

/* A plug-in in plain C: one backend that works, and many that break the rules of whittle_backend.h, one each.
 * Every one treats the graph as one that returns its inputs; the rest is told apart by the backend's name. */
#include <stdlib.h>
#include <string.h>

#include "backends/plugin/whittle_backend.h"

/* What compile leaves for run: the option "scale", and how many inputs to expect. */
typedef struct compiled {
    double scale;
} compiled;

static whittle_status compile(const whittle_graph* graph, const whittle_host* host, void** handle) {
    size_t i;
    compiled* result;
    if (strstr(graph->json, "\"aten.sin.default\"")) {
        host->say(host->context, "sin is not implemented", "aten.sin.default", NULL);
        return WHITTLE_UNSUPPORTED;
    }
    if (strlen(graph->json) != graph->json_size) return WHITTLE_ERROR;
    result = malloc(sizeof *result);
    result->scale = 1;
    for (i = 0; i < graph->option_count; i++)
        if (strcmp(graph->options[i].key, "scale") == 0) result->scale = atof(graph->options[i].value);
    *handle = result;
    return WHITTLE_OK;
}

/* Each f32 input, contiguous, times `scale`; attributes do not count. */
static whittle_status run(void* handle, const whittle_tensor* inputs, size_t count, const whittle_host* host) {
    const compiled* graph = handle;
    size_t i;
    for (i = 0; i < count; i++) {
        size_t elements = 1, j;
        int32_t d;
        float* data;
        whittle_tensor output = inputs[i];
        for (d = 0; d < output.rank; d++) elements *= (size_t)output.sizes[d];
        data = malloc(elements * sizeof *data);
        for (j = 0; j < elements; j++) data[j] = ((const float*)inputs[i].data)[j] * (float)graph->scale;
        output.strides = NULL;
        output.data = data;
        host->output(host->context, i, &output);
        free(data);
    }
    return WHITTLE_OK;
}

static void destroy(void* handle) { free(handle); }

static whittle_status unsupported(const whittle_graph* graph, const whittle_host* host) {
    int twice;
    for (twice = 0; twice < 2; twice++)
        if (strstr(graph->json, "\"aten.sin.default\"")) host->say(host->context, "no sin", "aten.sin.default", NULL);
    return WHITTLE_OK;
}

/* ---- compile gone wrong ---- */

static whittle_status compile_silent(const whittle_graph* graph, const whittle_host* host, void** handle) {
    (void)graph, (void)host, (void)handle;
    return WHITTLE_ERROR;
}
static whittle_status compile_unknown(const whittle_graph* graph, const whittle_host* host, void** handle) {
    (void)graph, (void)host, (void)handle;
    return 99;
}
static whittle_status compile_break(const whittle_graph* graph, const whittle_host* host, void** handle) {
    (void)graph, (void)handle;
    host->say(host->context, "replaced", NULL, NULL);
    host->say(host->context, "stop here", NULL, "y");
    return WHITTLE_BREAK;
}
static whittle_status compile_bad_break(const whittle_graph* graph, const whittle_host* host, void** handle) {
    (void)graph, (void)handle;
    host->say(host->context, "stop here", NULL, "nowhere");
    return WHITTLE_BREAK;
}
static whittle_status compile_skip(const whittle_graph* graph, const whittle_host* host, void** handle) {
    (void)graph, (void)handle;
    host->say(host->context, "too small to bother", NULL, NULL);
    return WHITTLE_SKIP;
}
/* Checks that attributes come by name with their data. */
static whittle_status compile_attributes(const whittle_graph* graph, const whittle_host* host, void** handle) {
    size_t i;
    *handle = NULL;
    for (i = 0; i < graph->attribute_count; i++) {
        const whittle_tensor* tensor = &graph->attributes[i];
        host->say(host->context, tensor->hash ? "has a hash" : "is in the JSON", tensor->name, NULL);
        if (tensor->dtype != WHITTLE_F32 || tensor->rank != 1 || ((const float*)tensor->data)[0] != 7) return 98;
        if (tensor->hash && !strstr(graph->json, tensor->hash)) return 97;
    }
    return WHITTLE_ERROR;
}

/* ---- run gone wrong ---- */

static const float kData[6] = {1, 2, 3, 4, 5, 6};

static whittle_status give(const whittle_host* host, size_t index, int32_t dtype, int32_t rank, const int64_t* sizes,
                           const int64_t* strides, const void* data) {
    whittle_tensor output;
    memset(&output, 0, sizeof output);
    output.dtype = dtype;
    output.rank = rank;
    output.sizes = sizes;
    output.strides = strides;
    output.data = data;
    host->output(host->context, index, &output);
    return WHITTLE_OK;
}

#define RUN(name, statement)                                                                                         \
    static whittle_status name(void* handle, const whittle_tensor* inputs, size_t count, const whittle_host* host) { \
        (void)handle, (void)inputs, (void)count, (void)host;                                                         \
        statement;                                                                                                   \
    }
static const int64_t kTwo[1] = {2}, kMinus[1] = {-2}, kHuge[2] = {INT64_MAX, 2}, kLarge[1] = {INT64_MAX / 8};
static const int64_t kEmpty[1] = {0}, kBack[1] = {-2}, kZero[1] = {0}, kFour[1] = {4};
static const unsigned char kBytes[4] = {0, 1, 2, 255};

RUN(run_nothing, return WHITTLE_OK)
RUN(run_twice, give(host, 0, WHITTLE_F32, 1, kTwo, NULL, kData);
    return give(host, 0, WHITTLE_F32, 1, kTwo, NULL, kData))
RUN(run_index, return give(host, 7, WHITTLE_F32, 1, kTwo, NULL, kData))
RUN(run_dtype, return give(host, 0, 99, 1, kTwo, NULL, kData))
RUN(run_rank, return give(host, 0, WHITTLE_F32, -1, kTwo, NULL, kData))
RUN(run_no_sizes, return give(host, 0, WHITTLE_F32, 1, NULL, NULL, kData))
RUN(run_negative, return give(host, 0, WHITTLE_F32, 1, kMinus, NULL, kData))
RUN(run_overflow, return give(host, 0, WHITTLE_F32, 2, kHuge, NULL, kData))
RUN(run_large, return give(host, 0, WHITTLE_U8, 1, kLarge, NULL, kData))
RUN(run_no_data, return give(host, 0, WHITTLE_F32, 1, kTwo, NULL, NULL))
RUN(run_misaligned, return give(host, 0, WHITTLE_F32, 1, kTwo, NULL, (const char*)kData + 1))
RUN(run_null, host->output(host->context, 0, NULL); return WHITTLE_OK)
RUN(run_silent, return WHITTLE_ERROR)
RUN(run_fails, host->say(host->context, "kernel fault", "aten.neg.default", NULL); return WHITTLE_ERROR)
/* Unusual, but allowed. */
RUN(run_backwards, return give(host, 0, WHITTLE_F32, 1, kTwo, kBack, kData + 5))
RUN(run_expanded, return give(host, 0, WHITTLE_F32, 1, kFour, kZero, kData + 2))
RUN(run_empty, return give(host, 0, WHITTLE_F32, 1, kEmpty, NULL, NULL))
RUN(run_bools, return give(host, 0, WHITTLE_BOOL, 1, kFour, NULL, kBytes))

static void destroy_nothing(void* handle) { free(handle); }

#ifndef VERSION
#define VERSION WHITTLE_BACKEND_ABI_MAJOR
#endif
#define BACKEND(name, compile, run)                                                                             \
    static const whittle_backend name = {sizeof(whittle_backend), VERSION, 0, #name, "for tests", compile, run, \
                                         destroy_nothing,         NULL};

static const whittle_backend identity = {
    sizeof(whittle_backend), VERSION, 0, "identity", "returns its inputs", compile, run, destroy, unsupported};
BACKEND(silent, compile_silent, run)
BACKEND(unknown_status, compile_unknown, run)
BACKEND(asks_break, compile_break, run)
BACKEND(asks_bad_break, compile_bad_break, run)
BACKEND(asks_skip, compile_skip, run)
BACKEND(attributes, compile_attributes, run)
BACKEND(nothing, compile, run_nothing)
BACKEND(twice, compile, run_twice)
BACKEND(index_7, compile, run_index)
BACKEND(dtype_99, compile, run_dtype)
BACKEND(rank_minus_1, compile, run_rank)
BACKEND(no_sizes, compile, run_no_sizes)
BACKEND(negative_size, compile, run_negative)
BACKEND(overflow, compile, run_overflow)
BACKEND(large, compile, run_large)
BACKEND(no_data, compile, run_no_data)
BACKEND(misaligned, compile, run_misaligned)
BACKEND(null_output, compile, run_null)
BACKEND(silent_run, compile, run_silent)
BACKEND(fails, compile, run_fails)
BACKEND(backwards, compile, run_backwards)
BACKEND(expanded, compile, run_expanded)
BACKEND(empty, compile, run_empty)
BACKEND(bools, compile, run_bools)

#ifdef CRASH_AT_LOAD
static void crash(void) __attribute__((constructor));
static void crash(void) { abort(); }
#endif

#if defined(NO_RUN)
BACKEND(no_run, compile, NULL)
const whittle_backend* const whittle_backends[] = {&no_run, NULL};
#elif defined(ONE)
const whittle_backend* const whittle_backends[] = {&identity, NULL};
#elif !defined(NO_SYMBOL)
const whittle_backend* const whittle_backends[] = {
    &identity, &silent,     &unknown_status, &asks_break,   &asks_bad_break, &asks_skip,     &attributes, &nothing,
    &twice,    &index_7,    &dtype_99,       &rank_minus_1, &no_sizes,       &negative_size, &overflow,   &large,
    &no_data,  &misaligned, &null_output,    &silent_run,   &fails,          &backwards,     &expanded,   &empty,
    &bools,    NULL};
#endif

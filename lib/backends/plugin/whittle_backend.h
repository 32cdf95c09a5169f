/* whittle_backend.h - the interface between Whittle and a backend in a shared library. Plain C, nothing else needed.
 *
 * A backend turns a graph of tensor operations into something that runs. To write one, include this header, fill in a
 * whittle_backend, export the list of your backends, and build a shared library:
 *
 *     #include "whittle_backend.h"
 *
 *     static whittle_status compile(const whittle_graph* graph, const whittle_host* host, void** handle) { ... }
 *     static whittle_status run(void* handle, const whittle_tensor* in, size_t count, const whittle_host* host) { ... }
 *     static void destroy(void* handle) { ... }
 *
 *     static const whittle_backend mine = {sizeof(whittle_backend), WHITTLE_BACKEND_ABI_MAJOR,
 *         WHITTLE_BACKEND_ABI_MINOR, "mine", "my compiler", compile, run, destroy, NULL};
 *     WHITTLE_EXPORT const whittle_backend* const whittle_backends[] = {&mine, NULL};
 *
 *     cc -shared -fPIC mine.c -o mine.so && minify model.onnx --backend ./mine.so
 *
 * `--backend LIBRARY.so` names a library that holds one backend, `--backend LIBRARY.so:NAME` one of several. Libraries
 * in the folders of WHITTLE_BACKEND_PATH (separated by ':') are found by the backend's name alone.
 *
 * Rules
 *   - Versions. A library is refused when its major version differs from Whittle's. A newer minor version only appends
 *     members to the structs that start with their size, so that what the other side does not know is not read;
 *     whittle_tensor and whittle_option, which come in arrays, never change within a major version.
 *   - Memory. Everything that Whittle passes stays Whittle's: texts, shapes and inputs are valid until the function
 *     returns, `graph->attributes` with their data until `destroy`. What the backend hands over it passes to the
 *     functions of `host`, which copy; it may free it when they return. `handle` is the backend's own.
 *   - Threads. Whittle calls a handle from one thread at a time, not always the same; different handles possibly at
 *     once. Whittle may call compile in one process and run in a forked child of it.
 *   - Failures. Return a status and say why through host->say. Do not throw through these functions. A crash, a hang or
 *     an exhausted memory is noticed too (Whittle runs suspects in child processes), but says less.
 *
 * The graph is JSON in Whittle's graph format (share/schema/graph.schema.json), for example:
 *
 *     { "format": "whittle.graph", "version": "1.0", "name": "graph", "dialect": "aten",
 *       "attributes": { "w": {"dtype": "f32", "sizes": [64, 10], "hash": "6f0..."} },
 *       "nodes": [
 *         {"kind": "placeholder", "name": "x", "target": "x", "results": [{"dtype": "f32", "sizes": [1, 64]}]},
 *         {"kind": "get_attr", "name": "w", "target": "w", "results": [{"dtype": "f32", "sizes": [64, 10]}]},
 *         {"kind": "call", "name": "mm", "target": "aten.mm.default", "args": [{"node": "x"}, {"node": "w"}],
 *          "results": [{"dtype": "f32", "sizes": [1, 10]}]},
 *         {"kind": "output", "name": "output", "args": [{"node": "mm"}]} ] }
 *
 * Nodes are in an order in which they can run. Inputs are the placeholders in order, outputs the arguments of the
 * output node in order. Targets are in the dialect that the graph was captured in: "aten.relu.default" (PyTorch's ATen
 * ops and their semantics) or "onnx.Relu" (with "opset_imports"). A call with several results is read by calls of
 * "getitem".
 */
#ifndef WHITTLE_BACKEND_H
#define WHITTLE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WHITTLE_BACKEND_ABI_MAJOR 1
#define WHITTLE_BACKEND_ABI_MINOR 0
#define WHITTLE_EXPORT __attribute__((visibility("default")))

/* Element types, little-endian in memory as the processor has them. */
enum {
    WHITTLE_F64 = 0,
    WHITTLE_F32 = 1,
    WHITTLE_F16 = 2,  /* IEEE 754 binary16 */
    WHITTLE_BF16 = 3, /* upper half of a binary32 */
    WHITTLE_I64 = 4,
    WHITTLE_I32 = 5,
    WHITTLE_I16 = 6,
    WHITTLE_I8 = 7,
    WHITTLE_U8 = 8,
    WHITTLE_BOOL = 9,       /* one byte, 0 or 1 */
    WHITTLE_F8_E4M3FN = 10, /* OCP E4M3: bias 7, no infinities, NaN is 0x7f and 0xff */
    WHITTLE_U16 = 11,
    WHITTLE_U32 = 12,
    WHITTLE_U64 = 13,
    WHITTLE_C64 = 14,    /* real and imaginary part, a binary32 each */
    WHITTLE_C128 = 15,   /* the same of two binary64 */
    WHITTLE_F8_E5M2 = 16 /* OCP E5M2: the upper half of a binary16 */
};

/* A strided view: element [i, j, ...] lies at data + (i * strides[0] + j * strides[1] + ...) * (size of an element). */
typedef struct whittle_tensor {
    int32_t dtype;          /* WHITTLE_F32, ... */
    int32_t rank;           /* 0 for a single number, at most 64 */
    const int64_t* sizes;   /* rank of them, none negative */
    const int64_t* strides; /* rank of them, in elements, may be 0 or negative; NULL: row-major without gaps */
    const void* data;       /* first element of the view, aligned to its size; may be NULL when some size is 0 */
    const char* name;       /* attribute: its key in the graph; input: its placeholder; output: ignored, may be NULL */
    const char* hash; /* attribute: the "hash" by which the JSON refers to it, NULL when its data is in the JSON too */
} whittle_tensor;

typedef struct whittle_option {
    const char* key;
    const char* value;
} whittle_option;

/* What to compile. */
typedef struct whittle_graph {
    size_t struct_size;
    const char* json; /* UTF-8, ends with a 0 that json_size does not count */
    size_t json_size;
    /* Parameters and constants of the graph, then those of nested graphs, named "NESTED/KEY" after their graphs. */
    const whittle_tensor* attributes;
    size_t attribute_count;
    const whittle_option* options; /* the user's, for this backend; warn about unknown ones */
    size_t option_count;
} whittle_graph;

typedef int32_t whittle_status;
enum {
    WHITTLE_OK = 0,
    WHITTLE_ERROR = 1,       /* it failed: what minify looks for */
    WHITTLE_UNSUPPORTED = 2, /* it meets an op, dtype or shape that it does not implement: no bug */
    WHITTLE_BREAK = 3,       /* compile only: capture should stop before the node named to host->say */
    WHITTLE_SKIP = 4         /* compile only: leave this graph to the reference backend */
};

/* Whittle's side of one call. Pass `context` back as it is. */
typedef struct whittle_host {
    size_t struct_size;
    void* context;
    /* Says why the function will not return WHITTLE_OK; before WHITTLE_OK it is a warning for the user. `op` is the
       target at fault and `node` the name of the node, each NULL when there is none to name. A later call replaces an
       earlier one, except in `unsupported`. */
    void (*say)(void* context, const char* message, const char* op, const char* node);
    /* run only: gives output number `index`. Each output must be given once before run returns WHITTLE_OK. */
    void (*output)(void* context, size_t index, const whittle_tensor* tensor);
} whittle_host;

typedef struct whittle_backend {
    size_t struct_size;      /* sizeof(whittle_backend) */
    uint32_t abi_major;      /* WHITTLE_BACKEND_ABI_MAJOR */
    uint32_t abi_minor;      /* WHITTLE_BACKEND_ABI_MINOR */
    const char* name;        /* letters, digits, '_', '-' and '.' */
    const char* description; /* one line */

    /* Compiles. On WHITTLE_OK, *handle is what run and destroy get. */
    whittle_status (*compile)(const whittle_graph* graph, const whittle_host* host, void** handle);
    /* Runs on one input per placeholder, each with the dtype and sizes of the graph; strides may differ. May be called
       any number of times; must not write to the inputs. */
    whittle_status (*run)(void* handle, const whittle_tensor* inputs, size_t input_count, const whittle_host* host);
    void (*destroy)(void* handle);
    /* Calls host->say once for every target in the graph that the backend does not implement, the target as `op`.
       Returns WHITTLE_OK. May be NULL when the backend cannot tell without compiling. */
    whittle_status (*unsupported)(const whittle_graph* graph, const whittle_host* host);
} whittle_backend;

/* The one symbol that a library exports: its backends, ended by NULL. */
WHITTLE_EXPORT extern const whittle_backend* const whittle_backends[];

#ifdef __cplusplus
}
#endif

#endif

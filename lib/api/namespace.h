// Where the API's names live. User programs see `whittle::Tensor`; its linker name is that of `whittle::api::Tensor`,
// because the library has a `whittle::Tensor` of its own (lib/tensor) that programs never see. In a user's file the
// namespace `api` is inline; the library's own files define WHITTLE_API_IMPLEMENTATION and name it.
#ifndef WHITTLE_API_NAMESPACE_H
#define WHITTLE_API_NAMESPACE_H

#if defined(WHITTLE_API_IMPLEMENTATION)
#define WHITTLE_API_BEGIN \
    namespace whittle {   \
    namespace api {
#else
#define WHITTLE_API_BEGIN \
    namespace whittle {   \
    inline namespace api {
#endif
#define WHITTLE_API_END \
    }                   \
    }

/// A call's return address is where the user called it: never inlined.
#define WHITTLE_API_CALL __attribute__((noinline))
/// What only passes such a call on is always inlined, without optimization too.
#define WHITTLE_API_PASSES_ON __attribute__((always_inline))

#endif

#include "frontends/libtorch/fingerprint.h"

namespace whittle::libtorch {

namespace {
constexpr int kDeepestList = 16;
}

void Fingerprints::mix(std::uint64_t value) {
    hash_ ^= value + 0x9e3779b97f4a7c15ull + (hash_ << 12) + (hash_ >> 4);
    hash_ *= 0xff51afd7ed558ccdull;
    hash_ ^= hash_ >> 32;
}

std::uint64_t Fingerprints::of(RecordKind kind, Cursor& in) {
    hash_ = static_cast<std::uint64_t>(kind);
    places_ = false;
    switch (kind) {
        case RecordKind::op_begin:
            op_begin(in);
            break;
        case RecordKind::op_end: {
            const auto op = in.get<std::uint32_t>();
            mix(op);
            mix(in.get<std::uint32_t>());  // depth
            places_ = writes_(op);
            values(in);
            break;
        }
        case RecordKind::unseen_write:
            places_ = true;
            value(in);
            break;
        case RecordKind::snapshot:
            value(in);
            break;
        case RecordKind::data_ptr:
            mix(in.get<std::uint32_t>());  // stack
            text(in);
            value(in);
            break;
        case RecordKind::print_begin:
            mix(in.get<std::uint32_t>());
            value(in);
            break;
        case RecordKind::probe_name:
            mix(in.get<std::uint8_t>());
            mix(static_cast<std::uint64_t>(in.get<std::int64_t>()));
            text(in);
            value(in);
            break;
        case RecordKind::probe_value:
            text(in);
            value(in);
            break;
        case RecordKind::release:  // whichever they are
            break;
        default:  // no tensors, and nothing that differs in what is alike
            for (const std::byte byte : in.take(in.left())) mix(static_cast<std::uint64_t>(byte));
    }
    return hash_;
}

void Fingerprints::op_begin(Cursor& in) {
    ++ops_;
    for (int i = 0; i < 3; ++i) mix(in.get<std::uint32_t>());  // op, depth, stack
    mix(in.get<std::uint16_t>());                              // scope, grad mode
    const auto sequence = in.get<std::int64_t>();
    if (sequence >= 0) mix(static_cast<std::uint64_t>(sequence) - static_cast<std::uint64_t>(sequence_));
    if (sequence >= 0) sequence_ = sequence;
    mix(in.get<std::uint64_t>());  // the forward op's thread
    values(in);
}

void Fingerprints::values(Cursor& in) {
    const auto count = in.get<std::uint16_t>();
    mix(count);
    for (int i = 0; i < count; ++i) value(in);
}

/// Of a host number only that there is one: graphs may differ in it.
void Fingerprints::value(Cursor& in, int depth) {
    const auto tag = in.get<ValueTag>();
    mix(static_cast<std::uint64_t>(tag));
    switch (tag) {
        case ValueTag::none:
        case ValueTag::undefined:
            return;
        case ValueTag::tensor:
            return tensor(in);
        case ValueTag::integer:
        case ValueTag::real:
            in.take(sizeof(std::int64_t));
            return;
        case ValueTag::boolean:
            in.take(1);
            return;
        case ValueTag::text:
        case ValueTag::other:
            return text(in);
        case ValueTag::list: {
            const auto count = in.get<std::uint32_t>();
            if (depth == kDeepestList || count > in.left())
                in.fail("found a list of " + std::to_string(count) + " elements at depth " + std::to_string(depth),
                        "expected at most as many as bytes are left, and fewer than 16 levels");
            mix(count);
            for (std::uint32_t i = 0; i < count; ++i) value(in, depth + 1);
            return;
        }
    }
    in.fail("found value tag " + std::to_string(static_cast<int>(tag)), "expected 0 to 8");
}

void Fingerprints::tensor(Cursor& in) {
    const auto head = in.get<TensorRecord>();
    Sightings::Sighting& seen = tensors_[head.id];
    mix(met(seen));
    mix(head.version - (seen.when ? seen.version : 0));
    seen = {ops_, head.version};
    mix(static_cast<std::uint64_t>(head.dtype) << 16 | static_cast<std::uint64_t>(head.flags) << 8 | head.rank);
    if (head.flags & kHasStorage) {
        Sightings::Sighting& storage = storages_[head.storage];
        mix(met(storage));
        storage = {ops_, 0};
        if (places_) mix(static_cast<std::uint64_t>(head.offset));
    }
    for (int i = 0; i < 2 * head.rank; ++i) mix(in.get<std::uint64_t>());
    if (head.flags & kWrappedNumber) in.take(sizeof(std::uint64_t));
}

void Fingerprints::text(Cursor& in) {
    const auto bytes = in.take(in.get<std::uint32_t>());
    mix(bytes.size());
    for (const std::byte byte : bytes) mix(static_cast<std::uint64_t>(byte));
}

}  // namespace whittle::libtorch

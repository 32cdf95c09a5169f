#include "backends/libtorch/values.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>

#include <cmath>

#include "base/error.h"
#include "base/number_text.h"

namespace whittle::aten {
namespace {

std::string text_of(const Arg& arg) {
    struct {
        std::string operator()(std::monostate) const { return "none"; }
        std::string operator()(NodeRef) const { return "a tensor"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const { return shortest(v); }
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(const std::string& v) const { return '"' + v + '"'; }
        std::string operator()(DType v) const { return std::string(name(v)); }
        std::string operator()(const ArgList& v) const { return "a list of " + std::to_string(v.size()); }
        std::string operator()(const GraphRef&) const { return "a nested graph"; }
    } text;
    return std::visit(text, arg.value);
}

/// One argument and where it goes, for the error.
class Boxing {
  public:
    Boxing(const c10::Argument& parameter, const Lend& lend) : parameter_(parameter), lend_(lend) {}

    c10::IValue box(const Arg& arg, const c10::Type& type) const {
        switch (type.kind()) {
            case c10::TypeKind::OptionalType:
                return arg.is_none() ? c10::IValue() : box(arg, *type.expectRef<c10::OptionalType>().getElementType());
            case c10::TypeKind::TensorType:
                return tensor(arg);
            case c10::TypeKind::ListType:
                return list(arg, *type.expectRef<c10::ListType>().getElementType());
            case c10::TypeKind::IntType:
            case c10::TypeKind::SymIntType:
                return integer(arg);
            case c10::TypeKind::FloatType:
                if (const auto* integer = std::get_if<std::int64_t>(&arg.value)) return static_cast<double>(*integer);
                return get<double>(arg);
            case c10::TypeKind::NumberType:
                return scalar(arg);
            case c10::TypeKind::BoolType:
                return get<bool>(arg);
            case c10::TypeKind::StringType:
                return get<std::string>(arg);
            case c10::TypeKind::ScalarTypeType:
                return static_cast<std::int64_t>(scalar_type(get<DType>(arg)));
            case c10::TypeKind::LayoutType:
                return layout(arg);
            case c10::TypeKind::MemoryFormatType:
                return memory_format(arg);
            case c10::TypeKind::DeviceObjType:
                return c10::Device(get<std::string>(arg));
            default:
                wrong(arg);
        }
    }

  private:
    [[noreturn]] void wrong(const Arg& arg) const {
        throw Error("argument '" + parameter_.name() + "': found " + text_of(arg) +
                    ", expected a value of LibTorch's type " + parameter_.real_type()->str());
    }

    template <class T>
    T get(const Arg& arg) const {
        if (const T* value = std::get_if<T>(&arg.value)) return *value;
        wrong(arg);
    }

    /// Also a truth, and a whole number of a parameter that later versions made a Scalar.
    std::int64_t integer(const Arg& arg) const {
        if (const auto* truth = std::get_if<bool>(&arg.value)) return *truth;
        if (const auto* number = std::get_if<double>(&arg.value))
            if (std::fabs(*number) < 0x1p53 && *number == std::trunc(*number))
                return static_cast<std::int64_t>(*number);
        return get<std::int64_t>(arg);
    }

    c10::Scalar scalar(const Arg& arg) const {
        if (const auto* integer = std::get_if<std::int64_t>(&arg.value)) return *integer;
        if (const auto* truth = std::get_if<bool>(&arg.value)) return *truth;
        return get<double>(arg);
    }

    c10::IValue tensor(const Arg& arg) const {
        if (arg.is_none()) return at::Tensor();
        if (const NodeRef* operand = arg.node()) return lend_(*operand);
        return at::native::wrapped_scalar_tensor(scalar(arg));
    }

    c10::IValue list(const Arg& arg, const c10::Type& element) const {
        // The kernels take lists of symbolic integers as lists of integers.
        const bool symbolic = element.kind() == c10::TypeKind::SymIntType;
        c10::impl::GenericList result(symbolic ? c10::TypePtr(c10::IntType::get()) : shared(element));
        if (const ArgList* elements = arg.list())
            for (const Arg& one : *elements) result.push_back(box(one, element));
        else if (parameter_.N())  // one number for "int[2]"
            for (int i = 0; i < *parameter_.N(); ++i) result.push_back(box(arg, element));
        else
            wrong(arg);
        return result;
    }

    static c10::TypePtr shared(const c10::Type& type) {
        switch (type.kind()) {
            case c10::TypeKind::OptionalType:
                return c10::OptionalType::create(shared(*type.expectRef<c10::OptionalType>().getElementType()));
            case c10::TypeKind::TensorType:
                return c10::TensorType::get();
            case c10::TypeKind::FloatType:
                return c10::FloatType::get();
            case c10::TypeKind::BoolType:
                return c10::BoolType::get();
            case c10::TypeKind::StringType:
                return c10::StringType::get();
            case c10::TypeKind::NumberType:
                return c10::NumberType::get();
            default:
                return c10::IntType::get();
        }
    }

    c10::IValue layout(const Arg& arg) const {
        if (get<std::string>(arg) != "strided") wrong(arg);
        return static_cast<std::int64_t>(c10::kStrided);
    }

    c10::IValue memory_format(const Arg& arg) const {
        const std::string text = get<std::string>(arg);
        for (const auto& [spelling, format] : {std::pair{"contiguous_format", c10::MemoryFormat::Contiguous},
                                               {"preserve_format", c10::MemoryFormat::Preserve},
                                               {"channels_last", c10::MemoryFormat::ChannelsLast},
                                               {"channels_last_3d", c10::MemoryFormat::ChannelsLast3d}})
            if (text == spelling) return static_cast<std::int64_t>(format);
        wrong(arg);
    }

    const c10::Argument& parameter_;
    const Lend& lend_;
};

}  // namespace

c10::IValue boxed(const Arg& arg, const c10::Argument& parameter, const Lend& lend) {
    return Boxing(parameter, lend).box(arg, *parameter.real_type());
}

}  // namespace whittle::aten

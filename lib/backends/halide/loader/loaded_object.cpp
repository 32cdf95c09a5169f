#include "backends/halide/loader/loaded_object.h"

#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/DynamicLibrary.h>
#include <llvm/Support/MemoryBuffer.h>

namespace whittle::halide {

/// RuntimeDyld, and no JIT around it: there is one object, complete, and nobody waits for its symbols.
struct LoadedObject::Memory final : llvm::SectionMemoryManager {
    Memory() : linker(*this, *this) {
        // Only then are the process's own symbols found.
        static const bool process = !llvm::sys::DynamicLibrary::LoadLibraryPermanently(nullptr);
        (void)process;
    }

    std::uint64_t getSymbolAddress(const std::string& name) override {
        if (library)
            if (void* found = library->find(name)) return reinterpret_cast<std::uintptr_t>(found);
        return SectionMemoryManager::getSymbolAddress(name);
    }

    const LoadedObject* library = nullptr;
    llvm::RuntimeDyld linker;
};

LoadedObject::LoadedObject() : memory_(std::make_unique<Memory>()) {}
LoadedObject::~LoadedObject() = default;

std::unique_ptr<LoadedObject> LoadedObject::load(const std::string& object, const LoadedObject* library,
                                                 std::string& error) {
    std::unique_ptr<LoadedObject> loaded(new LoadedObject);
    loaded->memory_->library = library;
    auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
    if (!file) {
        error = llvm::toString(file.takeError());
        return nullptr;
    }
    for (const llvm::object::SectionRef& section : (*file)->sections()) {
        if (!section.isText()) continue;
        llvm::Expected<llvm::StringRef> bytes = section.getContents();
        if (bytes)
            loaded->instructions_ += *bytes;
        else
            llvm::consumeError(bytes.takeError());
    }
    // Not finalizeWithMemoryManagerLocking(): it would hand exception tables to the C++ runtime, and these have none.
    llvm::RuntimeDyld& linker = loaded->memory_->linker;
    linker.loadObject(**file);
    linker.resolveRelocations();
    if (!linker.hasError() && loaded->memory_->finalizeMemory(&error)) return nullptr;
    if (linker.hasError()) {
        error = linker.getErrorString().str();
        return nullptr;
    }
    return loaded;
}

void* LoadedObject::find(const std::string& name) const {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory_->linker.getSymbol(name).getAddress()));
}

}  // namespace whittle::halide

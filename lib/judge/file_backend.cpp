#include "judge/file_backend.h"

#include <utility>

#include "base/error.h"
#include "graph/abilities.h"

namespace whittle {

namespace {

/// Runs on the file's values.
class FileExecutable final : public Executable {
  public:
    FileExecutable(std::unique_ptr<Executable> compiled, const std::vector<Tensor>& values)
        : compiled_(std::move(compiled)), values_(values) {}
    RunResult run(std::span<const Tensor>) override { return compiled_->run(values_); }

  private:
    std::unique_ptr<Executable> compiled_;
    const std::vector<Tensor>& values_;
};

CompileResult compile_given(Backend& by, const OnnxFile& file, const BackendOptions& options) {
    TakesOnnxFile* const takes = offered<TakesOnnxFile>(by);
    WHITTLE_CHECK(takes != nullptr, by.name() + " compiles files");
    CompileResult result = takes->compile_file(file, options);
    auto* const compiled = std::get_if<std::unique_ptr<Executable>>(&result);
    if (!compiled) return result;
    return std::make_unique<FileExecutable>(std::move(*compiled), file.values);
}

class FileBackend : public Backend, public Wrapper, public IgnoresGraph {
  public:
    FileBackend(Backend& inner, const OnnxFile& file) : inner_(inner), file_(file) {}
    std::string name() const override { return inner_.name(); }
    std::string description() const override { return inner_.description(); }
    Backend& inner() const override { return inner_; }
    CompileStage consumes() const override { return CompileStage::captured; }
    CompileResult compile(const Graph&, const BackendOptions& options) override {
        return compile_given(inner_, file_, options);
    }

  protected:
    Backend& inner_;
    const OnnxFile& file_;
};

class FileQuery final : public Apart::Query, public IgnoresGraph {
  public:
    FileQuery(std::unique_ptr<Apart::Query> inner, const OnnxFile& file) : inner_(std::move(inner)), file_(file) {}
    std::string name() const override { return inner_->name(); }
    std::string description() const override { return inner_->description(); }
    CompileStage consumes() const override { return CompileStage::captured; }
    CompileResult compile(const Graph&, const BackendOptions& options) override {
        return compile_given(*inner_, file_, options);
    }
    const std::optional<Apart::Ended>& ended() const override { return inner_->ended(); }

  private:
    std::unique_ptr<Apart::Query> inner_;
    const OnnxFile& file_;
};

class ApartFileBackend final : public FileBackend, public Apart {
  public:
    using FileBackend::FileBackend;
    std::unique_ptr<Query> query(const BackendOptions& options, const ProcessOptions& limits) override {
        return std::make_unique<FileQuery>(offered<Apart>(inner_)->query(options, limits), file_);
    }
};

}  // namespace

std::unique_ptr<Backend> file_backend(Backend& inner, const OnnxFile& file, const BackendOptions& options) {
    TakesOnnxFile* const takes = offered<TakesOnnxFile>(inner);
    if (!takes || !takes->takes_file(options)) return nullptr;
    if (apart_for(inner, options)) return std::make_unique<ApartFileBackend>(inner, file);
    return std::make_unique<FileBackend>(inner, file);
}

}  // namespace whittle

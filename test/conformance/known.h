// What is known not to pass, in terms of what models are made of: test/known-failing/onnx.txt.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "judge.h"

namespace whittle::conformance {

/// A line: every model that has all these features gets this verdict on this backend. Lines name ops and formats, never
/// a model.
struct Known {
    int line = 0;
    std::set<std::string> backends = {};
    std::vector<std::string> features = {};
    Verdict verdict = Verdict::unsupported;
    std::string reason = {};

    bool explains(const Model& model, std::string_view backend) const;
};

class KnownFailures {
  public:
    /// BACKENDS | FEATURES | VERDICT | REASON, comments behind '#' in the first column. Throws Error naming the line.
    explicit KnownFailures(const std::filesystem::path& file);

    /// What is unexpected about a model's verdict, "" for nothing.
    std::string judge(const Model& model, std::string_view backend, const Judged& judged) const;
    /// The model is expected to pass.
    bool passes(const Model& model, std::string_view backend) const;
    /// Lines for this backend that no model of these needs, since none has its features or an earlier line explains all
    /// that have.
    std::vector<std::string> unneeded(const std::vector<Model>& models, std::string_view backend) const;

  private:
    std::string file_;
    std::vector<Known> lines_;
};

}  // namespace whittle::conformance

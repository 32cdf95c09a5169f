// The distinct bugs among the failures of many models, each minimized: what is left of the models is the same up to
// names and sizes, and fails alike.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::reduce {

/// The graph without names, numbers and sizes: equal for graphs that differ in nothing else. Dtypes and numbers of
/// dimensions count, and words and truth values among arguments.
std::string skeleton(const Graph& graph);

/// A failure of a model, and what it was minimized to.
struct OneFailure {
    std::string signature = {}, message = {}, culprit = {};
    bool minimized = false;  ///< the search came to its end
    std::size_t ops = 0;
    std::filesystem::path output = {};  ///< empty: nothing was written
    std::string skeleton = {};          ///< of the graph there
    bool has_repro = false;             ///< repro writes a program for that
    std::filesystem::path of = {};      ///< the model that the graph of a trace was made of; empty: see OneModel::model
};

/// What became of one of the models.
struct OneModel {
    std::filesystem::path model = {};
    std::vector<OneFailure> failures = {};
    std::string not_judged = {}, error = {};  ///< why it has no verdict, or could not be read; else empty
    bool of_others = false;                   ///< a trace of some of the other models, which is no further model
};

/// Failures that are one bug, by the smallest of them.
struct Bug {
    OneFailure smallest = {};
    std::filesystem::path model = {};                ///< that it is of
    std::vector<std::filesystem::path> models = {};  ///< all that have it
};

struct ManyModels {
    std::size_t models = 0, failing = 0, right = 0;
    std::size_t open = 0;                                             ///< nobody has come to them
    std::vector<Bug> bugs = {};                                       ///< those that most models have first
    std::map<std::string, std::string> not_judged = {}, errors = {};  ///< by model: why

    /// Every failure was minimized, and there is one.
    bool good() const;
};

/// `open`: of how many more models nothing is known yet.
ManyModels distinct(std::span<const OneModel> models, std::size_t open = 0);

/// A paragraph for each bug.
std::string to_text(const ManyModels& all);
nlohmann::json to_json(const ManyModels& all);
/// A page with a row for each bug.
std::string to_html(const ManyModels& all, const std::string& title);

}  // namespace whittle::reduce

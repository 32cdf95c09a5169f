// A command that is started once and asked again and again: for compilers whose start takes longer than their work.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/backend.h"

namespace whittle {

/// The backend `name` whose worker is `argv`; it speaks the protocol of share/doc/how-to/compiler.md. A worker that
/// crashes, hangs, grows beyond its limit or says what is no answer is asked once more where it had answered before
/// (what it was asked then may be the reason), by a new process; how that one ends is the query's outcome. Options:
/// format = auto | onnx | json, which model file to write; disable = SWITCH;SWITCH…; pass-limit = LEVEL=K;…; release =
/// NAME, where it can be started as several; `arguments`, with which it is started ("--NAME=VALUE"); and those that the
/// worker names.
std::unique_ptr<Backend> make_worker_backend(const std::string& name, const std::string& description,
                                             const std::vector<std::string>& argv,
                                             const std::vector<std::string>& arguments = {});

}  // namespace whittle

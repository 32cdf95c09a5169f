# minify compared with PyTorch's own minifier after Dynamo and after AOT autograd, on failures of torch.compile
# For each case and tool: whether the failure was found, the operations that are left, the queries, the seconds, and whether
# the result still fails in a fresh process. A run that finds nothing, or exceeds the time limit, counts with the time limit. Cases:
# Inductor's injected bugs of three kinds in three networks, six faults in Inductor's passes that need two operations or
# more, two of them in training, and five bugs of PyTorch 2.14.1. A bug that the PyTorch of PYTHON does not have is left
# out. DIR keeps the results, so that the same command continues after an interruption.
#   scripts/bench torch [--json FILE] [--python PYTHON] [--only TEXT] [--limit SECONDS] DIR
# PYTHON has PyTorch 2.6 or later (default: python3). TEXT selects the cases whose names contain it.
json='' python=python3 only='' limit=300
options "json= python= only= limit= DIR" "$@"
folder=${words[0]-}
[ -n "$folder" ] || fail "found no folder, expected DIR"
[[ $limit =~ ^[1-9][0-9]*$ ]] || fail "--limit: found '$limit', expected a number of seconds"
build_release minify repro
exec python3 "$parts/torch.py" "$build/bin" "$folder" "$python" "$limit" "$only" "$json"

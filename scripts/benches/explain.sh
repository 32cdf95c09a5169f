# graph breaks that explain reports, compared with torch._dynamo.explain
# For each of 30 small programs: the lines and reasons of the graph breaks that the two tools report. explain needs a
# capture library for the PyTorch of PYTHON (scripts/build-capture).
#   scripts/bench explain [--json FILE] [--python PYTHON] [--only TEXT]
# PYTHON has PyTorch 2 (default: python3). TEXT selects the programs whose names contain it.
json='' python=python3 only=''
options "json= python= only=" "$@"
build_release explain
exec python3 "$parts/explain.py" "$build/bin" "$python" "$only" "$json"

# cost of explain --html, of explain diff and of timing hooks, compared with limits
# For a graph of N nodes (default 5,000) with stacks and module paths: the time to write the page, the size of the page, the time
# until Chromium first paints the page, and the frames per second while panning; the time of explain diff on two such graphs; and
# the cost per operation of hooks without a listener. Without Chromium, the figures of Chromium are omitted.
#   scripts/bench report [--json FILE] [--nodes N]
json='' nodes=5000
options "json= nodes=" "$@"
[[ $nodes =~ ^[1-9][0-9]+$ ]] || fail "--nodes: found '$nodes', expected a number, 10 or more"
build_release explain report_bench
exec python3 "$parts/report.py" "$build/bin" "$nodes" ${json:+"$json"}

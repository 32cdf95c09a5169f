# what the page of explain --html, explain diff and the watching of times cost, beside what they may
# A graph of N nodes (default 5,000) with stacks and module paths: how long its page takes to be written, how large it is,
# when Chromium first paints it, and how many frames a second it draws while it is panned; how long explain diff takes for two
# such graphs; what an operation pays for being watched by nobody. Where Chromium is not installed, its figures are left out.
#   scripts/bench report [--json FILE] [--nodes N]
json='' nodes=5000
options "json= nodes=" "$@"
[[ $nodes =~ ^[1-9][0-9]+$ ]] || fail "--nodes: found '$nodes', expected a number, 10 or more"
build_release explain report_bench
exec python3 "$parts/report.py" "$build/bin" "$nodes" ${json:+"$json"}

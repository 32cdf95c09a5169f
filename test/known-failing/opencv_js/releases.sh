# To be sourced by a path.sh: "$@" becomes --also for the releases of OpenCV that `install` put where worker.cjs looks,
# but for $own, which is the one that the report is about.
set --
js=$(dirname "$0")/../../opencv_js
builds=${XDG_DATA_HOME:-$HOME/.local/share}/whittle/backends/opencv_js
[ ! -e "$builds/4.12.0" ] || set -- "$@" --also "worker:node $js/worker.cjs 4.12.0 any-rank"
if [ -e "$builds/5.0.0" ]; then
  set -- "$@" --also "worker:node $js/worker.cjs 5.0.0 ENGINE_CLASSIC any-rank"
  [ "${own-}" = 5.0.0 ] || set -- "$@" --also "worker:node $js/worker.cjs 5.0.0 ENGINE_NEW any-rank"
fi

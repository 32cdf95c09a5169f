# needs: test -e "$XDG_DATA_HOME/whittle/backends/opencv_js/5.0.0/node_modules/@techstark/opencv-js"
# ../install 5.0.0 installs that.
own=5.0.0
. "$(dirname "$0")/../releases.sh"
cp "$(dirname "$0")/../worker.cjs" .
minify model.json --backend 'worker:node worker.cjs 5.0.0' --accuracy --delta-passes -values -o m.json
repro report m.json --note 'The new engine pads (kernel - 1) / 2 at the front and ignores the strides: here that is one too many at the front; SAME_UPPER puts it at the end.' \
  "$@" --issue ISSUE.md

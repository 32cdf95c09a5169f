# needs: test -e "$XDG_DATA_HOME/whittle/backends/opencv_js/5.0.0/node_modules/@techstark/opencv-js"
# ../install 5.0.0 installs that.
own=5.0.0
. "$(dirname "$0")/../releases.sh"
cp "$(dirname "$0")/../worker.cjs" .
minify model.json --backend 'worker:node worker.cjs 5.0.0' --accuracy --delta-passes -values -o m.json
repro report m.json --note 'A slope with one dimension above 1 is taken for one number per channel, wherever that dimension is; here it is the last one.' \
  "$@" --issue ISSUE.md

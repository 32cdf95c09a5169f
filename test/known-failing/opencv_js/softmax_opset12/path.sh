# needs: test -e "$XDG_DATA_HOME/whittle/backends/opencv_js/5.0.0/node_modules/@techstark/opencv-js"
# ../install 5.0.0 installs that.
own=5.0.0
. "$(dirname "$0")/../releases.sh"
cp "$(dirname "$0")/../worker.cjs" .
minify model.json --backend 'worker:node worker.cjs 5.0.0' --accuracy --delta-passes -values -o m.json
repro report m.json --note 'Softmax-11, which also holds for opset 12, says of axis: "defaults to one". OpenCV takes -1, the default since opset 13; 4.6.0 was right. (Reshape is needed because images in the JavaScript API have two or four dimensions.)' \
  "$@" --issue ISSUE.md

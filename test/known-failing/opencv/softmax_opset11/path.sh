# needs: explain list backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model.json --backend opencv --accuracy -o m.json
repro report m.json --note 'Softmax-11 takes its input for a matrix: it is "coerced into a 2-dimensional tensor", the dimensions from axis on being one row, over all of which it sums. OpenCV sums over the axis alone, as since opset 13.' \
  --anonymize "$@" --issue ISSUE.md

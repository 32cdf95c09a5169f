# needs: explain list backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model.json --backend opencv --accuracy -o m.json
repro report m.json --note 'Softmax-11 treats its input as a matrix: it is "coerced into a 2-dimensional tensor", in which the dimensions from axis on are one row, and the sum is over the whole row. OpenCV sums over axis alone, which is right since opset 13.' \
  --anonymize "$@" --issue ISSUE.md

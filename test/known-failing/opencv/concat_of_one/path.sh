# needs: explain list backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model_25310.json -o m.json
repro report m.json --title 'dnn: Concat of the network input returns uninitialized memory, with fusion' \
  --note 'Fusion removes Concat: the layers before it have to write into its buffer. The input of the network is not written there, so that uninitialized memory is returned.' \
  --data ones "$@" --issue ISSUE.md

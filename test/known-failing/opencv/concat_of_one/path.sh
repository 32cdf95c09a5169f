# needs: explain list backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model_25310.json -o m.json
repro report m.json --title 'dnn: Concat that reads the input of the network returns unwritten memory, with fusion' \
  --note 'Fusion takes Concat away: the layers before it are to write into its buffer. The input of the network is not written there, and what the buffer happens to hold is returned.' \
  --data ones "$@" --issue ISSUE.md

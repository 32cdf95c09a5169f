# needs: explain list backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model_19999.json -o m.json
repro report m.json --note 'OpenCV does not read count_include_pad: it includes the padding only for models whose producer is "pytorch".' \
  --anonymize "$@" --issue ISSUE.md

# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note 'The zeros of Pad become the padding of MaxPool, which does not take part in the maximum: for a negative number (x = -3) the result is no longer 0.' \
  --anonymize --issue ISSUE.md

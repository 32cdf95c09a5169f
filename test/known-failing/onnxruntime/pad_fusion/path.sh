# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note 'The zeros of Pad become the own padding of MaxPool, which takes no part in the maximum: of negative numbers (x = -3) it is no longer 0.' \
  --anonymize --issue ISSUE.md

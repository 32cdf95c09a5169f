# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note 'The kernel converts each element to float, also for double and integers.' \
  --anonymize --issue ISSUE.md

# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note 'The kernel makes each element a float, of double and of integers, too.' \
  --anonymize --issue ISSUE.md

# needs: explain --list-backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --skip-delta-passes dims,operands -o m.json
repro m.json --anonymize --issue ISSUE.md

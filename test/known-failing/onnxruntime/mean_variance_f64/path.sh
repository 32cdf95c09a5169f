# needs: explain --list-backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model_4599.json -o m.json
repro m.json --anonymize --issue ISSUE.md

# needs: explain --list-backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro m.json --issue ISSUE.md

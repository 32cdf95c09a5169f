# needs: explain --list-backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy --input start=2 --input limit=-1 --input delta=-1 -o m.json
repro m.json --issue ISSUE.md

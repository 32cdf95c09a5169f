# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy --input start=2 --input limit=-1 --input delta=-1 -o m.json
repro report m.json --note 'Gather(x, Range(2, -1, -1)) becomes Slice(x, 2, -1, step -1), where the end -1 means the last element.' \
  --issue ISSUE.md

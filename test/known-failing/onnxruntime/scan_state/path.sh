# needs: explain --list-backends | grep '^onnxruntime ' | grep -vq 'not installed'
# Memory that nobody wrote holds, now and then, what is expected: the failure is looked at once, and sizes and values are kept.
minify model.json --backend onnxruntime --accuracy --repeat 1 --delta-passes outputs -o m.json
repro m.json --note 'A state that the body of Scan hands on as it is comes out as memory that nobody wrote (of whole models: #26339); with an Identity in between it is right.' \
  --data ones --issue ISSUE.md

# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
# Memory that nobody wrote holds, now and then, what is expected: the failure is looked at once, and sizes and values are kept.
minify model.json --backend onnxruntime --accuracy --repeat 1 --delta-passes outputs -o m.json
repro report m.json --note 'If the body of Scan returns a state unchanged, the result is uninitialized memory. With an Identity in between it is right. (#26339, closed as stale, is about a whole model that returns its input.)' \
  --data ones --issue ISSUE.md

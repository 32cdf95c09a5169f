# needs: explain --list-backends | grep '^opencv ' | grep -vq 'not installed'
minify model_25310.json -o m.json
repro m.json --data ones --issue ISSUE.md

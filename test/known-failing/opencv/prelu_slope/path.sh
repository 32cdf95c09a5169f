# needs: explain --list-backends | grep '^opencv ' | grep -vq 'not installed'
minify model.json --backend opencv --accuracy --skip-delta-passes data -o m.json
repro m.json --data real --issue ISSUE.md

# needs: explain --list-backends | grep '^opencv ' | grep -vq 'not installed'
minify model.json --backend opencv --accuracy -o m.json
repro m.json --anonymize --issue ISSUE.md

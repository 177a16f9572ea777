#!/bin/sh
# An engineer for tests: answers the n-th question with FOLDER/n-KIND.md and keeps the question.
# Where there is no such file it fails, and the search loses the request.
n=$(($(cat "$1/count" 2>/dev/null || echo 0) + 1))
echo "$n" > "$1/count"
cat > "$1/question-$n.md"
exec cat "$1/$n-$KSEARCH_KIND.md"

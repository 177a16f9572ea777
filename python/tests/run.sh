#!/bin/sh
# run.sh KSEARCH: passes the tests of the package, or says what is missing and exits with 77.
set -eu
python=${KSEARCH_TEST_PYTHON:-python3}
here=$(cd "$(dirname "$0")/.." && pwd)
if ! "$python" -c 'import mlx.core, pytest' 2> /dev/null; then
  echo "skipped: $python has no mlx or no pytest; pip install 'mlx[cpu]' pytest, then name that"
  echo "Python by KSEARCH_TEST_PYTHON (./test.sh does both)"
  exit 77
fi
cd "$here/tests"
export KSEARCH="$1" PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider

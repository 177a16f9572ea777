#!/usr/bin/env bash
# A search of softmax against a server that none of us wrote: PyPI's litellm[proxy] with mock models, over
# each of its three wire formats, with and without streams. Not part of CI: it installs some 100 packages
# and takes a few minutes.
#   scripts/litellm_bar.sh [VENV]      VENV: made where it is missing [/tmp/ksearch-litellm]
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-/tmp/ksearch-litellm}
ksearch=${KSEARCH:-$PWD/build/${KSEARCH_PRESET:-dev}/bin/ksearch}
port=${PORT:-4011}
[ -x "$ksearch" ] || { echo "$ksearch is not built" >&2; exit 3; }
[ -x "$venv/bin/litellm" ] || { python3 -m venv "$venv"; "$venv/bin/pip" install -q 'litellm[proxy]'; }
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

# The planner's answer serves as a first tree and as an edit script that has nothing to add.
python3 - "$work/config.yaml" <<'PY'
import json, pathlib, sys
step = pathlib.Path("catalog/softmax/cpp/vector_rows")
program = "The program:\n\n```cpp softmax.cpp\n%s```\n\n```json\n%s```\n" % (
    (step / "softmax.cpp").read_text(), (step / "program.json").read_text())
node = {"node_id": "vectors", "parent_id": "root", "action": {"title": "vectors", "score_0_to_1": 0.8}}
plan = json.dumps({"kernel_summary": "a reduction", "ops": [], "why": "nothing more",
                   "decision_tree": {"root_id": "root", "nodes": [{"node_id": "root"}, node]}})
models = [{"model_name": name, "litellm_params": {"model": "openai/" + name, "api_key": "none", "mock_response": text}}
          for name, text in [("planner", plan), ("coder", program)]]
pathlib.Path(sys.argv[1]).write_text(json.dumps({"model_list": models}))  # JSON is YAML
PY
# It does not start without a key of its own.
KSEARCH_API_KEY=sk-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export KSEARCH_API_KEY
LITELLM_MASTER_KEY=$KSEARCH_API_KEY LITELLM_LOCAL_MODEL_COST_MAP=True "$venv/bin/litellm" --config "$work/config.yaml" --port "$port" > "$work/log" 2>&1 &
server=$!
for _ in $(seq 240); do
  curl -s "http://127.0.0.1:$port/health/liveliness" > /dev/null && break
  kill -0 "$server" || { tail -n 30 "$work/log" >&2; server=; exit 3; }
  sleep 0.5
done

failed=0
for how in chat "chat --no-stream" responses "responses --no-stream" messages "messages --no-stream"; do
  name=${how// /}
  # shellcheck disable=SC2086
  "$ksearch" run softmax --engineer llm:coder --planner planner --base-url "http://127.0.0.1:$port" --api $how \
    --stagnation 2 --threads 1 --where 'rows == 1024' --time 3m --out "$work/$name" --json \
    > "$work/$name.json" 2> "$work/$name.err" || true
  python3 - "$how" "$work/$name.json" "$work/$name.err" <<'PY' || failed=1
import json, sys
how, file, errors = sys.argv[1:]
try:
    run = json.load(open(file))
    best = run["best"]
    print("%-22s %s (%s): %s, %.2fx naive, certificate %s, %d calls, %d tokens in, %d out%s" % (
        how, run["status"], run["end_reason"], best["node"], best["ratio"]["naive"]["value"], best["certificate"],
        run["calls"], run["tokens_in"], run["tokens_out"], ", estimated" if run["tokens_estimated"] else ""))
except Exception as error:
    print("%-22s FAILED: %r\n%s" % (how, error, open(errors).read()))
    sys.exit(1)
PY
done
exit $failed

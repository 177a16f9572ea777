#!/usr/bin/env python3
"""A scripted agent that searches softmax through `ksearch mcp`, with PyPI's mcp package as the client:
  mcp_client.py KSEARCH CATALOG_FOLDER WORK_FOLDER [cpu|metal]
CATALOG_FOLDER is catalog/softmax; metal is an Apple GPU on the engine here, with modelled times. Run with a Python that has mcp (pip install mcp)."""
import asyncio
import json
import os
import pathlib
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ksearch, catalog, work = sys.argv[1:4]
target = sys.argv[4] if len(sys.argv) > 4 else "cpu"
step = pathlib.Path(catalog) / {"cpu": "cpp/vector_rows", "metal": "mlx/online_rows"}[target]
where = {"cpu": "rows == 1024", "metal": "rows == 1024 and cols == 1000"}[target]
exported_file = {"cpu": "softmax.cpp", "metal": "softmax.py"}[target]
program = json.loads((step / "program.json").read_text())
files = [{"path": source["path"], "text": (step / source["path"]).read_text()} for source in program["sources"]]
plan = {key: value for key, value in program.items() if key not in ("format", "task", "dialect", "sources")}
TREE = {"kernel_summary": "a reduction", "decision_tree": {"root_id": "root", "nodes": [
    {"node_id": "root"}, {"node_id": "vectors", "parent_id": "root", "action": {"title": "vectors", "score_0_to_1": 0.8}}]}}


async def main():
    server = StdioServerParameters(command=ksearch, args=["mcp"], cwd=work, env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        assert hello.server_info.name == "ksearch" if hasattr(hello, "server_info") else True
        names = [tool.name for tool in (await session.list_tools()).tools]
        print("tools:", ", ".join(names))

        async def call(name, fails=False, **arguments):
            result = await session.call_tool(name, arguments)
            text = result.content[0].text
            failed = result.isError if hasattr(result, "isError") else result.is_error
            assert bool(failed) == fails, (name, text)
            return text if fails else json.loads(text)

        print("no run yet:", await call("tree", fails=True))
        print("bad arguments:", await call("start_run", fails=True, task="softmaxx"))
        tasks = (await call("list_tasks"))["tasks"]
        assert "softmax" in [task["name"] for task in tasks]
        run = await call("start_run", task="softmax", target=target, where=where, threads=1, time="4m", out="found")
        asked, submitted, kinds = 0, 0, []
        while True:
            now = await call("next_request", wait_seconds=30)
            for line in now["news"]:
                print("  ", line)
            if now["state"] in ("opening", "working"):
                continue
            if now["state"] != "question":
                break
            asked += 1
            kinds.append(now["kind"])
            request = now["request"]
            if now["kind"] == "plan-first":
                refused = await call("submit_answer", request=request, text="I would use vectors.")
                assert not refused["accepted"] and "JSON" in refused["why"], refused
                assert (await call("submit_answer", request=request, text=json.dumps(TREE)))["accepted"]
            elif now["kind"].startswith("plan"):
                if kinds.count("plan-revise") == 1 and now["kind"] == "plan-revise":
                    edited = await call("edit_tree", ops=[{"op": "insert_node", "parent_id": "root", "node": {
                        "node_id": "by_hand", "action": {"title": "by hand", "score_0_to_1": 0.1}}}])
                    assert edited["accepted"], edited
                    bad = await call("edit_tree", ops=[{"op": "delete_node", "node_id": "nobody"}])
                    assert not bad["accepted"] and "nobody" in bad["why"], bad
                    now = await call("next_request", wait_seconds=5)
                    request = now["request"]
                assert (await call("submit_answer", request=request, text='{"ops": [], "why": "no more"}'))["accepted"]
            elif submitted == 0:
                broken = await call("submit_program", request=request, plan={"launches": []}, files=files)
                assert not broken["accepted"], broken
                sent = await call("submit_program", request=request, plan=plan, files=files)
                assert sent["accepted"], sent
                submitted += 1
                print("late:", await call("submit_answer", fails=True, request=request, text="{}"))
            else:
                assert (await call("submit_answer", request=request, text='```json\n{"exhausted": "done"}\n```'))["accepted"]
        print("ended:", now["state"], now.get("status"), now.get("why"), now["spent"])
        assert now["state"] == "ended", now
        outcome = await call("outcome")
        assert outcome["passed"] and outcome["ratios"]["naive"]["value"] > 1, outcome
        best = await call("best")
        assert best["node"] == "vectors", best
        tree = (await call("tree"))["tree"]
        assert "vectors" in tree and "by_hand" in tree, tree
        exported = await call("export", out="files")
        print(exported["text"])
        assert (pathlib.Path(work) / "files" / exported_file).exists()
        print("questions:", asked, kinds)


asyncio.run(asyncio.wait_for(main(), 400))
replayed = subprocess.run([os.path.abspath(ksearch), "replay", "found"], cwd=work, capture_output=True, text=True)
print(replayed.stdout + replayed.stderr)
assert replayed.returncode == 0, replayed
print("mcp: a search of softmax through the protocol, done")

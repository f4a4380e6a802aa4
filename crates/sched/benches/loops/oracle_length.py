"""Short schedules by OR-Tools' CP-SAT: one loop per line on standard input, one answer per line on standard output.

Usage: oracle_length.py PROCESSOR_SECONDS < loops.jsonl

A line names the II as `ask.ii` and a length that is long enough as `ask.most`. CP-SAT minimises the length with one worker
for so many seconds of processor time, those for building the model not counted. The answer lists every schedule that it
found, with the processor time until then in microseconds.
"""

import json
import sys
import threading
import time

from oracle import Model, dependences, length_of
from ortools.sat.python import cp_model


class Found(cp_model.CpSolverSolutionCallback):
    """Keeps every better schedule, and when it was there."""

    def __init__(self, loop, starts, begun):
        super().__init__()
        self.loop, self.starts, self.begun, self.all = loop, starts, begun, []

    def on_solution_callback(self):
        micros = int((time.process_time() - self.begun) * 1e6)
        times = [self.value(s) for s in self.starts]
        least = min(times)
        times = [t - least for t in times]
        self.all.append({"micros": micros, "length": length_of(self.loop, times), "times": times})


def stop_after(solver, begun, limit, over):
    while not over.wait(0.01):
        if time.process_time() - begun >= limit:
            solver.stop_search()


def answer(loop, limit):
    ii, most = loop["ask"]["ii"], loop["ask"]["most"]
    built = Model(loop, list(dependences(loop)), ii, [(0, most - n["latency"]) for n in loop["nodes"]])
    end = built.model.new_int_var(0, most, "end")
    for n, node in enumerate(loop["nodes"]):
        built.model.add(end >= built.start[n] + node["latency"])
    built.model.minimize(end)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    # By the clock only where the machine is so busy that it takes ten times as long.
    solver.parameters.max_time_in_seconds = 10 * limit
    begun, over = time.process_time(), threading.Event()
    found = Found(loop, built.start, begun)
    watch = threading.Thread(target=stop_after, args=(solver, begun, limit, over))
    watch.start()
    status = solver.solve(built.model, found)
    over.set()
    watch.join()
    micros = int((time.process_time() - begun) * 1e6)
    return {"found": found.all, "optimal": status == cp_model.OPTIMAL, "micros": micros}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"name": asked.get("name", ""), **answer(asked, float(sys.argv[1]))}), flush=True)

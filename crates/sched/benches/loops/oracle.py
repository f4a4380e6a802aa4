"""Modulo scheduling by OR-Tools' CP-SAT, one loop per line on standard input, one answer per line on standard output.

Usage: oracle.py SECONDS_PER_QUESTION < loops.jsonl

It shares nothing with the Rust crate: bounds, model and search are its own. For every II from the bounds upwards it
asks for residues and stages, then for the least length at the first II that has a schedule. Without a bound on the
length, dependences between strongly connected components forbid no II, and inside a component all times lie in
windows around any one of them; so a refutation is a proof, without a horizon.
"""

import json
import sys
import time

from ortools.sat.python import cp_model


def dependences(loop):
    """(src, dst, latency, distance), those that values and the exit imply included (S5, S8, S104)."""
    latency = [n["latency"] for n in loop["nodes"]]
    for e in loop.get("edges", []):
        own = e.get("latency")
        yield e["src"], e["dst"], latency[e["src"]] if own is None else own, e.get("distance", 0)
    for v in loop.get("values", []):
        for u in v["uses"]:
            yield v["def"], u["node"], v.get("start", 0), u.get("distance", 0)
            if v.get("max_depth") is not None:
                depth = v["max_depth"] - u.get("distance", 0)
                yield u["node"], v["def"], u["end"] - v.get("start", 0), depth
    wait = loop.get("while")
    for n in range(len(loop["nodes"]) if wait else 0):
        ahead = 0 if n in wait.get("committed", []) else wait.get("speculation", 0)
        yield wait["node"], n, latency[wait["node"]], ahead + 1


def resource_bound(loop):
    count = {r["name"]: r["count"] for r in loop.get("resources", [])}
    held = {}
    for n in loop["nodes"]:
        for u in n.get("uses", []):
            held[u["resource"]] = held.get(u["resource"], 0) + u["duration"]
    return max([1] + [-(-d // count[r]) for r, d in held.items()])


def positive_recurrence(loop, arcs, ii):
    """Bellman and Ford on longest paths."""
    time_of = [0] * len(loop["nodes"])
    for _ in range(len(time_of) + 1):
        moved = False
        for src, dst, latency, distance in arcs:
            least = time_of[src] + latency - ii * distance
            if least > time_of[dst]:
                time_of[dst], moved = least, True
        if not moved:
            return False
    return True


def minimum_ii(loop, arcs):
    ii = resource_bound(loop)
    step = 1
    while positive_recurrence(loop, arcs, ii):
        ii, step = ii + step, step * 2
    low = max(resource_bound(loop), ii - step)
    while low < ii:
        middle = (low + ii) // 2
        low, ii = (middle + 1, ii) if positive_recurrence(loop, arcs, middle) else (low, middle)
    return ii


def components(count, arcs):
    """Kosaraju's algorithm: the component of every node."""
    out, into = [[] for _ in range(count)], [[] for _ in range(count)]
    for src, dst, _, _ in arcs:
        out[src].append(dst)
        into[dst].append(src)
    order, seen = [], [False] * count
    for root in range(count):
        if seen[root]:
            continue
        seen[root], walk = True, [(root, iter(out[root]))]
        while walk:
            node, rest = walk[-1]
            following = next((n for n in rest if not seen[n]), None)
            if following is None:
                order.append(node)
                walk.pop()
            else:
                seen[following] = True
                walk.append((following, iter(out[following])))
    component = [-1] * count
    for root in reversed(order):
        if component[root] < 0:
            component[root], walk = root, [root]
            while walk:
                for n in into[walk.pop()]:
                    if component[n] < 0:
                        component[n] = root
                        walk.append(n)
    return component


def longest_from(root, members, arcs, ii):
    """Longest paths inside a component; there is no positive recurrence."""
    far = {n: None for n in members}
    far[root] = 0
    for _ in members:
        moved = False
        for src, dst, latency, distance in arcs:
            if far[src] is not None:
                reach = far[src] + latency - ii * distance
                if far[dst] is None or reach > far[dst]:
                    far[dst], moved = reach, True
        if not moved:
            break
    return far


def windows(loop, arcs, ii):
    """First and last start of every node with one node of each component in [0, II), and the arcs that matter."""
    component = components(len(loop["nodes"]), arcs)
    inside = [a for a in arcs if component[a[0]] == component[a[1]]]
    bounds = [None] * len(loop["nodes"])
    for root in set(component):
        members = [n for n, c in enumerate(component) if c == root]
        own = [a for a in inside if component[a[0]] == root]
        ahead = longest_from(root, members, own, ii)
        behind = longest_from(root, members, [(d, s, l, k) for s, d, l, k in own], ii)
        for n in members:
            bounds[n] = (ahead[n] or 0, ii - 1 - (behind[n] or 0))
    return bounds, inside


def settle(loop, arcs, ii, times):
    """The earliest times of these residues; components move apart by whole turns."""
    times = [t % ii for t in times]
    moved = True
    while moved:
        moved = False
        for src, dst, latency, distance in arcs:
            least = times[src] + latency - ii * distance
            if times[dst] < least:
                times[dst] = least + (times[dst] - least) % ii
                moved = True
    return times


class Model:
    """Residues and stages of all operations at one II, each start within its bounds."""

    def __init__(self, loop, arcs, ii, bounds):
        self.model, self.loop, self.ii = cp_model.CpModel(), loop, ii
        self.residue, self.start = [], []
        for n, (first, last) in enumerate(bounds):
            residue = self.model.new_int_var(0, ii - 1, f"r{n}")
            stage = self.model.new_int_var(first // ii, last // ii, f"k{n}")
            start = self.model.new_int_var(first, last, f"t{n}")
            self.model.add(start == residue + ii * stage)
            self.residue.append(residue)
            self.start.append(start)
        for src, dst, latency, distance in arcs:
            self.model.add(self.start[dst] + ii * distance >= self.start[src] + latency)
        for r in loop.get("resources", []):
            # What is taken in turn bounds the II alone.
            if not r.get("interleaved"):
                self.unit(r)

    def unit(self, resource):
        """Every use twice over two turns (S44(1)); whole turns as a constant demand (S44(2))."""
        ii, intervals, wraps = self.ii, [], 0
        for n, node in enumerate(self.loop["nodes"]):
            for i, u in enumerate(u for u in node.get("uses", []) if u["resource"] == resource["name"]):
                wraps += u["duration"] // ii
                held = u["duration"] % ii
                if held == 0:
                    continue
                at = self.residue[n]
                if u.get("start", 0) % ii:
                    at = self.model.new_int_var(0, ii - 1, f"u{n}.{i}")
                    turn = self.model.new_bool_var(f"w{n}.{i}")
                    self.model.add(at == self.residue[n] + u["start"] % ii - ii * turn)
                for copy in (at, at + ii):
                    intervals.append(self.model.new_fixed_size_interval_var(copy, held, f"i{n}.{i}"))
        room = resource["count"] - wraps
        if room < 0:
            self.model.add_bool_or([])
        elif intervals and room == 1:
            self.model.add_no_overlap(intervals)
        elif intervals:
            self.model.add_cumulative(intervals, [1] * len(intervals), room)

    def solve(self, limit, length=None):
        """Status, times, and the proved least length."""
        if length is not None:
            least, most = length
            end = self.model.new_int_var(least, most, "end")
            for n, node in enumerate(self.loop["nodes"]):
                self.model.add(end >= self.start[n] + node["latency"])
            self.model.minimize(end)
        solver = one_worker(limit)
        status = solver.solve(self.model)
        times = None
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            times = [solver.value(s) for s in self.start]
        return status, times


def length_of(loop, times):
    return max(t + n["latency"] for t, n in zip(times, loop["nodes"]))


def schedule(loop, limit):
    arcs = list(dependences(loop))
    ii = lower = mii = minimum_ii(loop, arcs)
    # One iteration after the other needs no more; windows may want more, then there is no answer.
    end = 2 * sum(n["latency"] + sum(u["duration"] + u.get("start", 0) for u in n.get("uses", [])) for n in loop["nodes"])
    end = max(mii, end + sum(abs(a[2]) for a in arcs))
    proved, left = True, 5 * limit
    while ii <= end and left > 0:
        begun = time.monotonic()
        bounds, inside = windows(loop, arcs, ii)
        status, times = Model(loop, inside, ii, bounds).solve(min(limit, left))
        left -= time.monotonic() - begun
        if times is not None:
            break
        proved = proved and status == cp_model.INFEASIBLE
        ii += 1
        lower = ii if proved else lower
    else:
        return {"ii": None, "lower_bound": lower}
    times = settle(loop, arcs, ii, times)
    most = length_of(loop, times)
    last = [(0, most - n["latency"]) for n in loop["nodes"]]
    status, shorter = Model(loop, arcs, ii, last).solve(limit, (0, most))
    times = shorter or times
    times = [t - min(times) for t in times]
    return {
        "ii": ii,
        "mii": mii,
        "lower_bound": lower,
        "optimal": lower == ii,
        "length": length_of(loop, times),
        "length_optimal": status == cp_model.OPTIMAL,
        "nodes": [{"id": n, "time": t} for n, t in enumerate(times)],
    }


def one_worker(limit):
    """A solver on one core for so many seconds, the same in every run."""
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    return solver


def answer_lines(schedule):
    """Answers every loop on standard input with `schedule(loop, seconds)`, and says how long that took."""
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    for line in sys.stdin:
        loop = json.loads(line)
        begun = time.monotonic()
        answer = schedule(loop, limit)
        answer["micros"] = int((time.monotonic() - begun) * 1e6)
        print(json.dumps({"name": loop.get("name", ""), **answer}), flush=True)


if __name__ == "__main__":
    answer_lines(schedule)

"""Partitions and times together by OR-Tools' CP-SAT: one loop with its machine per line on standard input, one answer per
line on standard output.

Usage: oracle_split.py SECONDS_PER_QUESTION < loops.jsonl

The II is a variable here: the first question asks for the least, up to the II that the line names as `most_ii`, the second
for the least cost of crossings at it. Registers, rings, replicas and uses that start later than their operation are not
modelled; the first two only make an answer worse, loops with the others are left out.
"""

from oracle import answer_lines, components, dependences, minimum_ii, one_worker
from ortools.sat.python import cp_model

KINDS = ("producer", "mma", "compute")
SIZES = (1, 2, 4, 8)


def issue_cycles(node):
    own = node.get("issue_latency")
    return max((u["duration"] for u in node.get("uses", [])), default=0) if own is None else own


def is_view(node):
    return node["latency"] == 0 and not node.get("kinds") and all(u["duration"] == 0 for u in node.get("uses", []))


def slices(loop):
    """The slice of every operation: what is named so, and views with their first reader (S61)."""
    of = list(range(len(loop["nodes"])))

    def join(a, b):
        low, high = sorted((of[a], of[b]))
        of[:] = [low if s == high else s for s in of]

    first = {}
    for n, node in enumerate(loop["nodes"]):
        if node.get("slice") is not None:
            join(n, first.setdefault(node["slice"], n))
        readers = [e["dst"] for e in loop.get("edges", []) if e["src"] == n and e["dst"] != n]
        if is_view(node) and readers:
            join(n, min(readers))
    return of


class Joint:
    """Who issues what, and when; the II is a variable, between `low` and `high`."""

    def __init__(self, loop, low, high):
        self.model, self.loop, self.machine = cp_model.CpModel(), loop, loop["partition_model"]
        self.ii = self.model.new_int_var(low, high, "ii")
        self.slice_of = slices(loop)
        self.parts = range(self.machine["max_partitions"])
        self.assign()
        self.crossings = self.cost()
        self.times(low, high)

    def assign(self):
        """Each slice takes a partition, whose kind and size suit its operations; warps suffice."""
        model, names = self.model, sorted(set(self.slice_of))
        self.kind = [[model.new_bool_var(f"kind{p}.{k}") for k in KINDS] for p in self.parts]
        self.warps = [model.new_int_var_from_domain(cp_model.Domain.from_values((0, *SIZES)), f"w{p}") for p in self.parts]
        for kinds in self.kind:
            model.add_exactly_one(kinds)
        self.takes = {s: [model.new_bool_var(f"s{s}.{p}") for p in self.parts] for s in names}
        for s, takes in self.takes.items():
            model.add_exactly_one(takes)
            for node in (n for i, n in enumerate(self.loop["nodes"]) if self.slice_of[i] == s):
                for p, take in enumerate(takes):
                    self.suits(node, p, take)
        # Partitions are taken in order.
        for i, s in enumerate(names):
            for p in self.parts[1:]:
                model.add_bool_or([self.takes[t][p - 1] for t in names[:i]] + [self.takes[s][p].negated()])
        model.add(sum(self.warps) <= self.machine["max_warps"])

    def suits(self, node, p, take):
        kinds = node.get("kinds") or (KINDS if is_view(node) else ("compute",))
        self.model.add_bool_or([self.kind[p][KINDS.index(k)] for k in kinds]).only_enforce_if(take)
        least = node.get("min_warps") or 1
        self.model.add(self.warps[p] >= least).only_enforce_if(take)
        self.model.add(self.warps[p] >= 4).only_enforce_if(take, self.kind[p][KINDS.index("compute")])

    def apart(self, src, dst):
        """Whether two operations are in different partitions, as a variable; None where they never are."""
        a, b = sorted((self.slice_of[src], self.slice_of[dst]))
        if a == b:
            return None
        if (a, b) not in self.aparts:
            apart = self.aparts[a, b] = self.model.new_bool_var(f"apart{a}.{b}")
            for x, y in zip(self.takes[a], self.takes[b]):
                self.model.add_bool_or([x.negated(), y.negated(), apart.negated()])
                self.model.add_bool_or([x.negated(), y, apart])
        return self.aparts[a, b]

    def crossing(self, src, dst):
        m, space = self.machine, self.machine["register_space"]
        carried = [v["bytes"] for v in self.loop.get("values", []) if v["def"] == src and v.get("space", "") == space and any(u["node"] == dst for u in v["uses"])]
        payload = m["payload"] + -(-m["payload_per_10240"] * sum(carried) // 10240)
        return m["barrier"] + (payload if sum(carried) else 0)

    def cost(self):
        self.aparts = {}
        waits = {(src, dst) for src, dst, *_ in dependences(self.loop)}
        terms = [(self.apart(*w), self.crossing(*w)) for w in sorted(waits)]
        return sum(apart * cost for apart, cost in terms if apart is not None)

    def times(self, low, high):
        """Starts as residue and turn; dependences between components cost no II, and are left out."""
        model, nodes = self.model, self.loop["nodes"]
        arcs = list(dependences(self.loop))
        component = components(len(nodes), arcs)
        inside = [a for a in arcs if component[a[0]] == component[a[1]]]
        reach = sum(abs(a[2]) + self.crossing(a[0], a[1]) for a in inside) // low + len(nodes) + 2
        self.start = []
        self.residue = [model.new_int_var(0, high - 1, f"r{n}") for n in range(len(nodes))]
        # Every use twice over two turns (S44).
        self.again = [model.new_int_var(0, 2 * high, f"a{n}") for n in range(len(nodes))]
        for n in range(len(nodes)):
            model.add(self.again[n] == self.residue[n] + self.ii)
            # One operation of each component is in the first turn.
            turns = 0 if component[n] == n else reach
            turn = model.new_int_var(-turns, turns, f"k{n}")
            whole = model.new_int_var(-turns * high, turns * high, f"kii{n}")
            model.add_multiplication_equality(whole, [turn, self.ii])
            model.add(self.residue[n] < self.ii)
            self.start.append(self.residue[n] + whole)
        for src, dst, latency, distance in inside:
            apart = self.apart(src, dst) if src != dst else None
            longer = apart * self.crossing(src, dst) if apart is not None else 0
            model.add(self.start[dst] + distance * self.ii >= self.start[src] + latency + longer)
        for r in self.loop.get("resources", []):
            if r.get("interleaved"):
                self.taken(r)
            else:
                self.unit(r)
        for p in self.parts:
            self.stream(p)

    def taken(self, resource):
        """What operations take in turn is no more than there is."""
        uses = [u for n in self.loop["nodes"] for u in n.get("uses", []) if u["resource"] == resource["name"]]
        self.model.add(self.ii * resource["count"] >= sum(u["duration"] for u in uses))

    def unit(self, resource):
        intervals = []
        for n, node in enumerate(self.loop["nodes"]):
            for u in node.get("uses", []):
                if u["resource"] == resource["name"] and u["duration"]:
                    self.model.add(self.ii >= u["duration"])
                    for copy in (self.residue[n], self.again[n]):
                        intervals.append(self.model.new_fixed_size_interval_var(copy, u["duration"], f"i{n}"))
        if resource["count"] == 1:
            self.model.add_no_overlap(intervals)
        elif intervals:
            self.model.add_cumulative(intervals, [1] * len(intervals), resource["count"])

    def stream(self, p):
        """A partition issues one operation at a time (S65)."""
        intervals = []
        for n, node in enumerate(self.loop["nodes"]):
            held = issue_cycles(node)
            if held:
                self.model.add(self.ii >= held)
                take = self.takes[self.slice_of[n]][p]
                for copy in (self.residue[n], self.again[n]):
                    intervals.append(self.model.new_optional_fixed_size_interval_var(copy, held, take, f"s{n}.{p}"))
        self.model.add_no_overlap(intervals)

    def minimise(self, what, limit):
        self.model.minimize(what)
        solver = one_worker(limit)
        status = solver.solve(self.model)
        return solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None, status

    def answer(self, solver):
        of = [next(p for p in self.parts if solver.value(self.takes[s][p])) for s in self.slice_of]
        arcs = list(dependences(self.loop))
        ii, times = solver.value(self.ii), [solver.value(t) for t in self.start]
        moved = True
        while moved:
            moved = False
            for src, dst, latency, distance in arcs:
                more = self.crossing(src, dst) if of[src] != of[dst] else 0
                least = times[src] + latency + more - ii * distance
                if times[dst] < least:
                    times[dst] = least + (times[dst] - least) % ii
                    moved = True
        least = min(times)
        used = sorted(set(of))
        kind = {p: next(k for i, k in enumerate(KINDS) if solver.value(self.kind[p][i])) for p in used}
        return {
            "nodes": [{"id": n, "time": t - least, "partition": of[n]} for n, t in enumerate(times)],
            "partitions": [{"id": p, "kind": kind[p], "warps": solver.value(self.warps[p]), "regs": 24} for p in used],
        }


def modelled(loop):
    fixed = loop.get("partitions") or any(n.get("replica") or n.get("partition") is not None for n in loop["nodes"])
    return not fixed and not any(u.get("start") for n in loop["nodes"] for u in n.get("uses", []))


def schedule(loop, limit):
    if not modelled(loop):
        return {"ii": None}
    low, high = minimum_ii(loop, list(dependences(loop))), loop["most_ii"]
    joint = Joint(loop, min(low, high), high)
    solver, status = joint.minimise(joint.ii, limit)
    if solver is None:
        return {"ii": None, "refuted": status == cp_model.INFEASIBLE}
    ii, optimal = solver.value(joint.ii), status == cp_model.OPTIMAL
    cheap = Joint(loop, ii, ii)
    least, cheapest = cheap.minimise(cheap.crossings, limit)
    best, of = (cheap, least) if least else (joint, solver)
    return {
        "ii": ii,
        "optimal": optimal,
        "crossings": of.value(best.crossings),
        "crossings_optimal": cheapest == cp_model.OPTIMAL,
        **best.answer(of),
    }


if __name__ == "__main__":
    answer_lines(schedule)

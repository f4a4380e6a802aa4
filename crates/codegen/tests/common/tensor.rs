//! The same GEMM for chips with tcgen05: one warp copies, one issues products, a warpgroup for each 128 rows
//! stores. With `tiles` above 1 a CTA makes several tiles, one below the other, and the accumulator is
//! double-buffered.

use std::fmt::Write;

use super::{Gemm, bytes, cut, record};

impl Gemm {
    /// One tile for each CTA.
    pub fn tensor_text(&self) -> String {
        self.tiles_text(1)
    }

    /// `tiles` tiles for each CTA.
    pub fn tiles_text(&self, tiles: u64) -> String {
        let ([ar, ac], [br, bc], [m, n]) = (self.a(), self.b(), [self.m, self.n]);
        let (ea, eb, k, depth) = (self.elems[0], self.elems[1], self.k, self.depth);
        let (ta, tb) = (format!("{ar}x{ac}x{ea}"), format!("{br}x{bc}x{eb}"));
        let tc = format!("{m}x{n}x{}", self.out);
        let (sa, sb) = (ar * ac * bytes(ea), br * bc * bytes(eb));
        let (slot_a, slot_b) = (sa.next_multiple_of(1024), sb.next_multiple_of(1024));
        let sc = (m * n * bytes(self.out)).next_multiple_of(1024);
        let at_b = slot_a * depth;
        let ring = at_b + slot_b * depth;
        let se = self.extra.map_or(0, |e| m * n * bytes(e)).next_multiple_of(1024);
        // Behind the last product the ring is free; with more tiles to come it is not.
        let at_c = if tiles == 1 && ring + se + sc + 1024 > 232_448 { 0 } else { ring + se };
        let bars = (ring + se).max(at_c + sc);
        let acc_bars = bars + 16 * depth;
        let acc_depth = if tiles > 1 { 2 } else { 1 };
        let tile_bars = acc_bars + 16 * acc_depth;
        let tmem_slot = tile_bars + 16;
        let shared = tmem_slot + 8;
        let blocks = m.div_ceil(128);
        // 64 rows take half of the lanes, and are read as accumulators of wgmma are.
        let (layout, groups) = match (self.pairs, m) {
            (true, _) => ("wgmma_pairs", 2 * blocks),
            (false, 64) => ("wgmma", blocks),
            (false, _) => ("rows", blocks),
        };
        let warps = 4 + 4 * groups;
        let most = (65536 / (32 * warps) / 8 * 8).min(256);
        let columns = blocks * n;
        let allocated = (columns * acc_depth).next_power_of_two().max(32);
        let mut records = vec![record(ar, ac, ea), record(br, bc, eb), record(m, n, self.out)];
        let mut extra_param = String::new();
        if let Some(e) = self.extra {
            records.push(record(m, n, e));
            extra_param =
                format!(", %e: !tt.tensordesc<{m}x{n}x{e}>, %e0: i32, %e1: i32, %e2: i64, %e3: i64");
        }
        let records = records.join(", ");
        let mut t = String::new();
        let acc = format!("tensor<{m}x{n}xf32>");
        let _ = writeln!(
            t,
            "module attributes {{warploom.form = \"program\", warploom.target = \"{}\"}} {{\n\
             tt.func public @gemm(%a: !tt.tensordesc<{ta}>, %a0: i32, %a1: i32, %a2: i64, %a3: i64, \
             %b: !tt.tensordesc<{tb}>, %b0: i32, %b1: i32, %b2: i64, %b3: i64, \
             %c: !tt.tensordesc<{tc}>, %c0: i32, %c1: i32, %c2: i64, %c3: i64{extra_param}, %K: i32{}) attributes \
             {{noinline = false, warploom.warps = {warps} : i32, warploom.max_registers = {most} : i32, \
             warploom.shared = {shared} : i32, warploom.tmem = {allocated} : i32, \
             warploom.tmem_slot = {tmem_slot} : i32, warploom.descriptors = [{records}]}} {{",
            self.chip, self.params
        );
        for c in [0, 1, k, m, n, tiles].iter().collect::<std::collections::BTreeSet<_>>() {
            let _ = writeln!(t, "%i{c} = arith.constant {c} : i32");
        }
        let _ = writeln!(
            t,
            "%no = arith.constant false\n%yes = arith.constant true\n\
             %some = arith.cmpi slt, %i0, %K : i32\n\
             %px = tt.get_program_id x : i32\n%first = arith.muli %px, %i{m} : i32\n\
             %py = tt.get_program_id y : i32\n%col = arith.muli %py, %i{n} : i32"
        );
        let _ = writeln!(
            t,
            "warploom.pipeline @p0 {{depth = {depth} : i32, handshake = \"tma_to_mma\", payload = [\"a\", \"b\"], \
             tile = [tensor<{ta}>, tensor<{tb}>], swizzle = array<i32: {}, {}>, offset = array<i64: 0, {at_b}>, \
             stride = array<i64: {slot_a}, {slot_b}>, bytes = {} : i32, full = {bars} : i32, empty = {} : i32, \
             arrive_full = 1 : i32, arrive_empty = 1 : i32}}\n\
             warploom.pipeline @acc {{depth = {acc_depth} : i32, handshake = \"mma_to_generic\", space = \"tmem\", \
             payload = [\"acc\"], tile = [{acc}], column = array<i64: 0>, columns = array<i64: {columns}>, \
             bytes = 0 : i32, full = {acc_bars} : i32, empty = {} : i32, arrive_full = 1 : i32, \
             arrive_empty = {} : i32}}",
            cut(ar, ac, ea).0,
            cut(br, bc, eb).0,
            sa + sb,
            bars + 8 * depth,
            acc_bars + 8 * acc_depth,
            4 * groups,
        );
        let _ = writeln!(
            t,
            "warploom.pipeline @p1 {{depth = 1 : i32, handshake = \"none\", payload = [\"c\"], tile = [tensor<{tc}>], \
             swizzle = array<i32: {}>, offset = array<i64: {at_c}>, stride = array<i64: {sc}>, bytes = 0 : i32, \
             full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}}",
            cut(m, n, self.out).0
        );
        if let Some(e) = self.extra {
            let _ = writeln!(
                t,
                "warploom.pipeline @p2 {{depth = 1 : i32, handshake = \"tma_to_generic\", payload = [\"e\"], \
                 tile = [tensor<{m}x{n}x{e}>], swizzle = array<i32: {}>, offset = array<i64: {ring}>, \
                 stride = array<i64: {se}>, bytes = {} : i32, full = {tile_bars} : i32, empty = -1 : i32, \
                 arrive_full = 1 : i32, arrive_empty = 0 : i32}}",
                cut(m, n, e).0,
                m * n * bytes(e),
            );
        }
        let _ =
            writeln!(t, "warploom.named_barrier @store {{id = 1 : i32, threads = {} : i32}}", 128 * groups);
        let coords = |k_major: bool, outer: &str| {
            if k_major { format!("%{outer}, %k") } else { format!("%k, %{outer}") }
        };
        // With one tile there is no loop over tiles: iterators start as they are.
        let several = tiles > 1;
        let row = match several {
            true => format!("%down = arith.muli %t, %i{m} : i32\n%row = arith.addi %first, %down : i32\n"),
            false => "%row = arith.addi %first, %i0 : i32\n".to_owned(),
        };
        let open = |result: &str, args: &[&str], starts: &[&str]| -> String {
            let pairs: Vec<String> = args.iter().zip(starts).map(|(a, s)| format!("{a} = {s}")).collect();
            let types = vec!["i32"; args.len()].join(", ");
            let pairs = pairs.join(", ");
            match several {
                true => format!(
                    "{result}:{} = scf.for %t = %i0 to %i{tiles} step %i1 iter_args({pairs}) -> ({types}) : i32 {{\n",
                    args.len()
                ),
                false => String::new(),
            }
        };
        let close = |values: &[&str]| match several {
            true => {
                format!("scf.yield {} : {}\n}}\n", values.join(", "), vec!["i32"; values.len()].join(", "))
            }
            false => String::new(),
        };
        let name = |inside: &'static str, start: &'static str| if several { inside } else { start };
        let _ = writeln!(
            t,
            "warploom.partition @load {{warp = 0 : i32, warps = 1 : i32, registers = {most} : i32}} {{\nwarploom.elect {{\n\
             {}{row}\
             %p:2 = scf.for %k = %i0 to %K step %i{k} iter_args(%i = {}, %f = {}) -> (i32, i32) : i32 {{\n\
             warploom.producer_acquire @p0[%i, %f]\n\
             warploom.producer_commit @p0[%i, %f] {{bytes = {} : i32}}\n\
             warploom.tma_load @p0[%i] {{payload = 0 : i32}} %a[{}] : !tt.tensordesc<{ta}>\n\
             warploom.tma_load @p0[%i] {{payload = 1 : i32}} %b[{}] : !tt.tensordesc<{tb}>\n\
             %n:2 = warploom.advance @p0[%i, %f]\nscf.yield %n#0, %n#1 : i32, i32\n}}",
            open("%o", &["%oi", "%of"], &["%i0", "%i1"]),
            name("%oi", "%i0"),
            name("%of", "%i1"),
            sa + sb,
            coords(self.k_major[0], "row"),
            coords(self.k_major[1], "col"),
        );
        if let Some(e) = self.extra {
            let _ = writeln!(
                t,
                "warploom.producer_commit @p2[%i0, %i1] {{bytes = {} : i32}}\n\
                 warploom.tma_load @p2[%i0] {{payload = 0 : i32}} %e[%row, %col] : !tt.tensordesc<{m}x{n}x{e}>",
                m * n * bytes(e)
            );
        }
        let _ = writeln!(t, "{}}}\n}}", close(&["%p#0", "%p#1"]));
        let (slot, acquired, filled) = (name("%s", "%i0"), name("%g", "%i1"), name("%g", "%i0"));
        let _ = writeln!(
            t,
            "warploom.partition @mma {{warp = 1 : i32, warps = 1 : i32, registers = {most} : i32}} {{\nwarploom.elect {{\n\
             {}warploom.producer_acquire @acc[{slot}, {acquired}]\n\
             %p:3 = scf.for %k = %i0 to %K step %i{k} iter_args(%keep = %no, %i = {}, %f = {}) -> (i1, i32, i32) : \
             i32 {{\n\
             warploom.consumer_wait @p0[%i, %f]\n\
             %xs = warploom.slot @p0[%i] {{payload = 0 : i32}} : tensor<{ta}>\n\
             %ys = warploom.slot @p0[%i] {{payload = 1 : i32}} : tensor<{tb}>",
            open("%o", &["%oi", "%of", "%s", "%g"], &["%i0", "%i0", "%i0", "%i1"]),
            name("%oi", "%i0"),
            name("%of", "%i0"),
        );
        let mut names = ["%xs", "%ys"];
        if !self.k_major[0] {
            let _ = writeln!(
                t,
                "%xt = tt.trans %xs {{order = array<i32: 1, 0>}} : tensor<{ta}> -> tensor<{m}x{k}x{ea}>"
            );
            names[0] = "%xt";
        }
        if self.k_major[1] {
            let _ = writeln!(
                t,
                "%yt = tt.trans %ys {{order = array<i32: 1, 0>}} : tensor<{tb}> -> tensor<{k}x{n}x{eb}>"
            );
            names[1] = "%yt";
        }
        let _ = writeln!(
            t,
            "warploom.mma @acc[{slot}] {{payload = 0 : i32}} {}, {}, %keep, inputPrecision = tf32 : \
             tensor<{m}x{k}x{ea}> * tensor<{k}x{n}x{eb}>\n\
             warploom.consumer_release @p0[%i, %f] {{lag = 0 : i32}}\n\
             %n:2 = warploom.advance @p0[%i, %f]\nscf.yield %yes, %n#0, %n#1 : i1, i32, i32\n}}\n\
             warploom.producer_commit @acc[{slot}, {acquired}] {{bytes = 0 : i32}}\n\
             %h:2 = warploom.advance @acc[{slot}, {acquired}]\n\
             {}}}\n}}",
            names[0],
            names[1],
            close(&["%p#1", "%p#2", "%h#0", "%h#1"]),
        );
        let _ = writeln!(
            t,
            "warploom.partition @epilogue {{warp = 4 : i32, warps = {} : i32, registers = {most} : i32, \
             layout = \"{layout}\"}} {{\n\
             {}{row}\
             warploom.consumer_wait @acc[{slot}, {filled}]\n\
             %acc = warploom.slot @acc[{slot}, %some] {{payload = 0 : i32}} : {acc}",
            4 * groups,
            open("%o", &["%s", "%g"], &["%i0", "%i0"]),
        );
        if let Some(e) = self.extra {
            let _ = writeln!(
                t,
                "warploom.consumer_wait @p2[%i0, %i0]\n\
                 %beta = warploom.slot @p2[%i0] {{payload = 0 : i32}} : tensor<{m}x{n}x{e}>"
            );
        }
        if self.epilogue.is_empty() && self.out != "f32" {
            let _ = writeln!(t, "%out = arith.truncf %acc : {acc} to tensor<{tc}>");
        }
        t.push_str(&self.epilogue);
        let out = if self.epilogue.is_empty() && self.out == "f32" { "%acc" } else { "%out" };
        let _ = writeln!(
            t,
            "warploom.barrier_sync @store\n\
             warploom.tile_store {out}, @p1[%i0] {{payload = 0 : i32}} : tensor<{tc}>\n\
             warploom.consumer_release @acc[{slot}, {filled}] {{lag = 0 : i32}}\n\
             warploom.proxy_fence\nwarploom.barrier_sync @store\nwarploom.elect {{\n\
             warploom.tma_store @p1[%i0] {{payload = 0 : i32}} %c[%row, %col] : !tt.tensordesc<{tc}>\n\
             warploom.store_commit\nwarploom.store_wait {{pending = 0 : i32, read = true}}\n}}\n\
             %h:2 = warploom.advance @acc[{slot}, {filled}]\n{}}}\ntt.return\n}}\n}}",
            close(&["%h#0", "%h#1"])
        );
        t
    }
}

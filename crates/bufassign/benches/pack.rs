//! Times the packer on the instances of the reference folder, one thread: `cargo bench --bench pack`.

use std::path::PathBuf;
use std::time::Instant;
use warploom_bufassign::pack::{PackOptions, PackOutcome, PackProblem, check_pack, pack};

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/packing");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&root).map(|d| d.filter_map(|e| Some(e.ok()?.path())).collect()).unwrap_or_default();
    files.sort();
    for f in files.iter().filter(|f| f.extension().is_some_and(|e| e == "csv")) {
        let text = std::fs::read_to_string(f).unwrap();
        let mut p = PackProblem::linear(Some(1048576));
        for line in text.lines().skip(1) {
            let v: Vec<i64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            p.push(v[3] as u64, v[1], v[2]);
        }
        let t = Instant::now();
        let o = pack(&p, &PackOptions { node_budget: 20_000_000, ..PackOptions::default() });
        let ms = t.elapsed().as_secs_f64() * 1e3;
        check_pack(&p, &o).unwrap();
        let what = match &o { PackOutcome::Fits { peak, .. } => format!("fits {peak}"), PackOutcome::GaveUp { best, lower_bound } => format!("gave up, best {:?} bound {lower_bound}", best.as_ref().map(|b| b.1)), o => format!("{o:?}") };
        println!("{} {ms:.2} ms {what}", f.file_name().unwrap().to_string_lossy());
    }
}

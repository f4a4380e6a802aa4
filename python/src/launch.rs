//! Launches on the emulator: parameters and buffers are bytes, buffers keep the addresses that they have in the host.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use serde_json::{Value, json};
use warploom::Target;
use warploom::emulator::{
    self, Arg, Device, ElemType, EmulatorRefusal, Launch, Look, Policy, Race, Report, RunOptions, TensorMap,
    TiledMap,
};

use crate::refused::{because, by_emulator};

/// How often a running launch looks whether the user wants to stop it.
const PATIENCE: Duration = Duration::from_millis(50);

/// Bytes of stack of a launch.
const STACK: usize = 8 << 20;

/// A PTX module, read and decoded once.
#[pyclass(frozen)]
pub struct Module(Arc<emulator::Module>);

#[pymethods]
impl Module {
    /// Reads PTX.
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Module> {
        let module = py.detach(|| emulator::Module::parse(text)).map_err(|e| by_emulator(&e))?;
        Ok(Module(Arc::new(module)))
    }

    /// The first name of `.target`.
    #[getter]
    fn target(&self) -> String {
        self.0.target.clone()
    }

    /// The kernels as JSON: name, parameters, threads, cluster, why it cannot be run.
    fn entries(&self) -> String {
        let entry = |e: &emulator::Entry| {
            let param =
                |p: &emulator::Param| json!({"name": p.name, "type": p.ty, "size": p.size, "array": p.array});
            let threads = e.required_threads.or(e.max_threads);
            json!({"name": e.name, "params": e.params.iter().map(param).collect::<Value>(), "threads": threads,
                   "cluster": e.cluster, "static_shared": e.static_shared(), "instructions": e.instructions(),
                   "refusal": e.refusal().map(|r| &r.diagnostics)})
        };
        self.0.entries().iter().map(entry).collect::<Value>().to_string()
    }
}

/// What to run and how, as `python/warploom` writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    entry: String,
    target: String,
    grid: [u32; 3],
    block: Option<[u32; 3]>,
    cluster: Option<[u32; 3]>,
    smem: u32,
    policies: Vec<String>,
    race: bool,
    strict: bool,
    limits: bool,
    max_steps: u64,
    threads: usize,
    /// Memory whose accesses are told, places at which registers are told, and whether errors tell all of them.
    #[serde(default)]
    watch: Vec<String>,
    #[serde(default)]
    breaks: Vec<String>,
    #[serde(default)]
    registers: bool,
}

impl Spec {
    /// What is looked at, or which part of it makes no sense.
    fn look(&self) -> Result<Look, String> {
        let mut look = Look::default().state(self.registers);
        for watch in &self.watch {
            look = look.watch(watch.parse()?);
        }
        for place in &self.breaks {
            look = look.break_at(place.parse()?);
        }
        Ok(look)
    }
}

/// Buffers by address with their contents: before the launch all, behind it those that changed.
type Buffers = Vec<(u64, Vec<u8>)>;

/// What a launch gives: the JSON of the reports, and the buffers that the first interleaving changed.
struct Done {
    reports: Vec<Report>,
    changed: Buffers,
    /// Another interleaving left other values behind.
    differ: bool,
}

/// Address and contents of each buffer that changed, as Python has them.
type Changed<'py> = Vec<(u64, Bound<'py, PyBytes>)>;

/// Runs a kernel under each policy from the same state: `(reports as JSON, whether results differ, changed buffers)`.
///
/// `args` are the bytes of the parameters, `buffers` triples of address, name and contents.
#[pyfunction]
pub fn launch<'py>(
    py: Python<'py>,
    module: &Module,
    spec: &str,
    args: Vec<Vec<u8>>,
    buffers: Vec<(u64, String, Bound<'py, PyBytes>)>,
) -> PyResult<(String, bool, Changed<'py>)> {
    let spec: Spec = serde_json::from_str(spec).map_err(|e| because(e.to_string(), "mend the launch"))?;
    let target = Target::named(&spec.target).map_err(|e| because(e.to_string(), "see warploom.targets()"))?;
    let mut device = Device::new(&target);
    for (addr, name, bytes) in &buffers {
        device.place(*addr, bytes.as_bytes(), name).map_err(|e| by_emulator(&e))?;
    }
    let policies = spec.policies.iter().map(|p| p.parse()).collect::<Result<Vec<Policy>, String>>();
    let policies = policies.map_err(|e| because(e, "eager, lazy, random:SEED, pct:SEED"))?;
    let look = spec.look().map_err(|e| because(e, "watch=\"x[0..16]\", breaks=\"kernel.py:12\""))?;
    let addresses = buffers.iter().map(|(addr, ..)| *addr).collect();
    let module = Arc::clone(&module.0);
    let work = move || run(&device, &module, &spec, &policies, look, args, addresses);
    let done = beside(py, work)?.map_err(|e| by_emulator(&e))?;
    let changed = done.changed.iter().map(|(addr, bytes)| (*addr, PyBytes::new(py, bytes))).collect();
    Ok((json!(done.reports).to_string(), done.differ, changed))
}

/// Runs work beside the interpreter, which goes on and hears the user's Ctrl-C; work that is given up then goes on to
/// its end, unheard.
fn beside<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (done, answer) = channel();
    let answer = std::sync::Mutex::new(answer);
    let spawned = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody listens any more where the user stopped it.
        let _ = done.send(work());
    });
    spawned.map_err(|e| because(format!("no thread: {e}"), "run fewer launches at once"))?;
    loop {
        let heard = py.detach(|| match answer.lock() {
            Ok(answer) => answer.recv_timeout(PATIENCE),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        match heard {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(because("the launch ended without an answer", "report it"));
            }
        }
    }
}

fn run(
    device: &Device,
    module: &emulator::Module,
    spec: &Spec,
    policies: &[Policy],
    look: Look,
    args: Vec<Vec<u8>>,
    addresses: Vec<u64>,
) -> Result<Done, EmulatorRefusal> {
    let base = Launch::of(module.entry(&spec.entry)?);
    let launch = Launch {
        grid: spec.grid,
        block: spec.block.unwrap_or(base.block),
        cluster: spec.cluster.unwrap_or(base.cluster),
        smem: spec.smem,
        args: args.into_iter().map(Arg::Bytes).collect(),
        ..base
    };
    let mut done = Done { reports: Vec::new(), changed: Vec::new(), differ: false };
    let mut first: Option<Device> = None;
    for policy in policies {
        let mut device = device.clone();
        let options = RunOptions::default()
            .policy(*policy)
            .race(if spec.race { Race::Full } else { Race::Off })
            .strict(spec.strict)
            .limits(spec.limits)
            .max_steps(spec.max_steps)
            .threads(spec.threads)
            .look(look.clone());
        done.reports.push(device.run(module, &launch, &options)?);
        match &first {
            None => first = Some(device),
            Some(first) => done.differ |= !changed(first, &device, &addresses)?.is_empty(),
        }
    }
    if let Some(first) = &first {
        done.changed = changed(device, first, &addresses)?;
    }
    Ok(done)
}

/// The buffers that hold something else on the second device.
fn changed(before: &Device, after: &Device, addresses: &[u64]) -> Result<Buffers, EmulatorRefusal> {
    let mut out = Vec::new();
    for &addr in addresses {
        let now = after.read(addr)?;
        if before.read(addr)? != now {
            out.push((addr, now.to_vec()));
        }
    }
    Ok(out)
}

/// A tensor map as `python/warploom` describes it; extents and strides innermost first, strides in bytes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Map {
    addr: u64,
    /// Number of the element type in CUDA's `CUtensorMapDataType`.
    elem: u8,
    dims: Vec<u64>,
    strides: Vec<u64>,
    box_dims: Vec<u32>,
    swizzle: u32,
    nan_fill: bool,
}

/// The 128 bytes of a tensor map.
#[pyfunction]
pub fn tensor_map<'py>(py: Python<'py>, spec: &str) -> PyResult<Bound<'py, PyBytes>> {
    let map: Map = serde_json::from_str(spec).map_err(|e| because(e.to_string(), "mend the tensor map"))?;
    let elem = ElemType::from_code(map.elem)
        .ok_or_else(|| because(format!("element code {}", map.elem), "an element type of TMA"))?;
    let made = TensorMap::tiled(&TiledMap {
        elem,
        addr: map.addr,
        dims: map.dims,
        strides: map.strides,
        box_dims: map.box_dims,
        elem_strides: Vec::new(),
        swizzle: map.swizzle,
        nan_fill: map.nan_fill,
    });
    Ok(PyBytes::new(py, made.map_err(|e| by_emulator(&e))?.bytes()))
}

//! One launch of a test program on the emulator: buffers, tensor maps and scalars in, buffers out.

#![allow(dead_code, reason = "each test file uses its own part")]

use warploom_chips::Target;
use warploom_codegen::Emitted;
use warploom_emulator::{Arg, Device, ElemType, Launch, Module, Policy, RunOptions, TensorMap, TiledMap};

/// What a launch needs, collected in the order of the kernel's parameters.
pub struct Case<'e> {
    emitted: &'e Emitted,
    device: Device,
    args: Vec<Arg>,
    places: Vec<u64>,
    maps: usize,
}

impl<'e> Case<'e> {
    pub fn new(chip: &str, emitted: &'e Emitted) -> Case<'e> {
        let device = Device::new(&Target::named(chip).unwrap());
        Case { emitted, device, args: Vec::new(), places: Vec::new(), maps: 0 }
    }

    /// A pointer to these bytes.
    pub fn buffer(mut self, bytes: &[u8]) -> Case<'e> {
        let at = self.device.alloc_from(bytes, "buffer").unwrap();
        self.places.push(at);
        self.args.push(Arg::Ptr(at));
        self
    }

    /// A descriptor of a matrix, with the extents and strides that go along (C12, C17).
    pub fn matrix(mut self, bytes: &[u8], rows: u64, cols: u64) -> Case<'e> {
        let record = &self.emitted.metadata.tensordesc_meta[self.maps];
        let addr = self.device.alloc_from(bytes, "matrix").unwrap();
        let map = TiledMap {
            elem: ElemType::from_code(record.elem_type as u8).unwrap(),
            addr,
            dims: vec![cols, rows],
            strides: vec![cols * u64::from(record.elem_size)],
            box_dims: record.block_size.iter().rev().copied().collect(),
            elem_strides: Vec::new(),
            swizzle: [0, 32, 64, 128][record.swizzle as usize],
            nan_fill: false,
        };
        self.maps += 1;
        self.places.push(addr);
        self.args.push(Arg::from(&TensorMap::tiled(&map).unwrap()));
        self.args.extend([Arg::I32(rows as i32), Arg::I32(cols as i32), Arg::I64(cols as i64), Arg::I64(1)]);
        self
    }

    pub fn scalar(mut self, arg: Arg) -> Case<'e> {
        self.args.push(arg);
        self
    }

    /// The buffers as the kernel leaves them. Panics where the emulator finds anything.
    pub fn run(mut self, grid: [u32; 3], policy: Policy) -> Vec<Vec<u8>> {
        self.args.extend([Arg::U64(0), Arg::U64(0)]);
        let ptx = &self.emitted.ptx;
        let module = Module::parse(ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        let entry = module.entry(&self.emitted.metadata.name).unwrap();
        let smem = self.emitted.metadata.shared as u32;
        let launch = Launch { grid, smem, args: self.args, ..Launch::of(entry) };
        let options = RunOptions::default().policy(policy).strict(true);
        let report = self.device.run(&module, &launch, &options).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.clean(), "{report}");
        self.places.iter().map(|&at| self.device.read(at).unwrap().to_vec()).collect()
    }
}

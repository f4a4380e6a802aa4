//! Launches of compiled modules, as the JSON beside them says.

use serde_json::Value;
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, ElemType, Launch, Module, Policy, Report, TensorMap, TiledMap};

fn ints(v: &Value) -> Vec<u64> {
    v.as_array().map(|a| a.iter().filter_map(Value::as_u64).collect()).unwrap_or_default()
}

/// The arguments of a manifest; the type of an integer is that of the parameter.
fn arguments(module: &Module, manifest: &Value, buffers: &[u64]) -> Vec<Arg> {
    let entry = &module.entries()[0];
    let list = manifest["args"].as_array().unwrap();
    let one = |(v, p): (&Value, &warploom_emulator::Param)| {
        if let Some(b) = v["ptr"].as_u64() {
            return Arg::Ptr(buffers[b as usize]);
        }
        if let Some(f) = v["f32"].as_f64() {
            return Arg::F32(f as f32);
        }
        if let Some(i) = v["int"].as_i64() {
            return match p.size {
                1 => Arg::U8(i as u8),
                2 => Arg::U16(i as u16),
                4 => Arg::I32(i as i32),
                _ => Arg::I64(i),
            };
        }
        let t = &v["tmap"];
        let map = TiledMap {
            elem: ElemType::from_code(t["elem"].as_u64().unwrap() as u8).unwrap(),
            addr: buffers[t["buffer"].as_u64().unwrap() as usize],
            dims: ints(&t["dims"]),
            strides: ints(&t["strides"]),
            box_dims: ints(&t["box"]).iter().map(|b| *b as u32).collect(),
            elem_strides: vec![],
            swizzle: t["swizzle"].as_u64().unwrap() as u32,
            nan_fill: false,
        };
        Arg::from(&TensorMap::tiled(&map).unwrap())
    };
    list.iter().zip(&entry.params).map(one).collect()
}

/// The numbers of a buffer.
pub fn values(bytes: &[u8], dtype: &str) -> Vec<f64> {
    fn each<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        bytes.chunks_exact(N).map(|c| read(c.try_into().unwrap())).collect()
    }
    match dtype {
        "bf16" => each(bytes, |c| half::bf16::from_le_bytes(c).to_f64()),
        "fp16" => each(bytes, |c| half::f16::from_le_bytes(c).to_f64()),
        "fp32" => each(bytes, |c| f64::from(f32::from_le_bytes(c))),
        "fp64" => each(bytes, f64::from_le_bytes),
        "i8" => each(bytes, |c| f64::from(i8::from_le_bytes(c))),
        "i32" => each(bytes, |c| f64::from(i32::from_le_bytes(c))),
        "i64" => each(bytes, |c| i64::from_le_bytes(c) as f64),
        other => panic!("unknown type {other}"),
    }
}

/// Runs a module on these buffers; gives the report and what the buffers hold then.
pub fn run(
    ptx: &str,
    manifest: &Value,
    data: &[Vec<u8>],
    policy: Policy,
) -> Result<(Report, Vec<Vec<u8>>), String> {
    let module = Module::parse(ptx).map_err(|e| e.to_string())?;
    let mut dev = Device::new(&Target::named(manifest["target"].as_str().unwrap()).unwrap());
    let names = manifest["buffers"].as_array().unwrap().iter().map(|b| b["name"].as_str().unwrap());
    let buffers: Vec<u64> = names.zip(data).map(|(name, data)| dev.alloc_from(data, name).unwrap()).collect();
    let grid: Vec<u32> = ints(&manifest["grid"]).iter().map(|v| *v as u32).collect();
    let launch = Launch {
        entry: manifest["entry"].as_str().unwrap().to_string(),
        grid: [grid[0], grid[1], grid[2]],
        block: [manifest["threads"].as_u64().unwrap() as u32, 1, 1],
        cluster: [manifest["cluster"].as_u64().unwrap_or(1) as u32, 1, 1],
        smem: manifest["smem"].as_u64().unwrap() as u32,
        args: arguments(&module, manifest, &buffers),
    };
    let report = dev.run(&module, &launch, &super::with(policy)).map_err(|e| e.to_string())?;
    let after = buffers.iter().map(|b| dev.read(*b).unwrap().to_vec()).collect();
    Ok((report, after))
}

/// Compares an output with what is expected, relative to the largest element.
pub fn compare(output: &Value, bytes: &[u8], want: &[f64]) -> Result<(), String> {
    let got = values(bytes, output["dtype"].as_str().unwrap());
    let peak = want.iter().fold(1e-300_f64, |m, v| m.max(v.abs()));
    let error = |(g, w): (&f64, &f64)| if g.is_nan() && w.is_nan() { 0.0 } else { (g - w).abs() };
    let worst = got
        .iter()
        .zip(want)
        .map(error)
        .fold(0.0, |m: f64, e| if e.is_nan() { f64::INFINITY } else { m.max(e) });
    let tolerance = output["tolerance"].as_f64().unwrap();
    if got.len() == want.len() && worst <= tolerance * peak {
        return Ok(());
    }
    Err(format!("error {} of the largest element, allowed {tolerance}", worst / peak))
}

//! Reads the declarations of a program.

use hashbrown::HashMap;
use warploom_chips::Target;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, Module, OpId, Opcode, Type};

use super::attributes::count;
use super::types::{NamedBarrier, Program, Tmem};
use crate::descriptor::descriptor;
use crate::error::{Result, locate, refuse};
use crate::metadata::TensorDescriptor;

impl<'m> Program<'m> {
    /// Reads the declarations of the module's only function.
    pub fn read(module: &'m Module, target: &Target) -> Result<Program<'m>> {
        let functions: Vec<OpId> = module.functions().collect();
        let [func] = functions.as_slice() else {
            let text = format!("a program is one function, not {}", functions.len());
            return Err(refuse(Code::Verify, text).rule("C20").into());
        };
        let func = *func;
        let at = |refusal| locate(module, func, refusal);
        let name = module.symbol_name(func).unwrap_or("");
        if !is_identifier(name) {
            let text = format!("`{name}` cannot name a PTX entry");
            return Err(at(refuse(Code::Verify, text).rule("C10").into()));
        }
        let body =
            module.entry(func, 0).ok_or_else(|| at(refuse(Code::Verify, "a program needs a body").into()))?;
        let mut program = Program {
            func,
            name,
            body,
            params: module.blocks[body].args.to_vec(),
            warps: count(module, func, "warploom.warps")?,
            max_registers: count(module, func, "warploom.max_registers")?,
            shared: count(module, func, "warploom.shared")?,
            tmem: None,
            descriptors: Vec::new(),
            maps: HashMap::new(),
            rings: Vec::new(),
            barriers: Vec::new(),
            turns: Vec::new(),
            turns_of: HashMap::new(),
            partitions: Vec::new(),
            ring_of: HashMap::new(),
            barrier_of: HashMap::new(),
        };
        program.check_launch(target).map_err(at)?;
        program.tmem = program.read_tmem(module, target).map_err(at)?;
        program.descriptors = program.read_descriptors(module).map_err(at)?;
        program.maps = program.read_maps(module, target)?;
        for &op in &module.blocks[body].ops {
            let name = module.symbol_name(op).unwrap_or("");
            match module.ops[op].opcode {
                Opcode::Pipeline => {
                    let ring = program.read_ring(module, op).map_err(|r| locate(module, op, r))?;
                    program.ring_of.insert(name, program.rings.len());
                    program.rings.push(ring);
                }
                Opcode::NamedBarrier => {
                    let barrier = program.read_barrier(module, op).map_err(|r| locate(module, op, r))?;
                    program.barrier_of.insert(name, program.barriers.len());
                    program.barriers.push(barrier);
                }
                Opcode::Turns => {
                    let turns = Program::read_turns(module, op).map_err(|r| locate(module, op, r))?;
                    program.turns_of.insert(name, program.turns.len());
                    program.turns.push(turns);
                }
                Opcode::Partition => {
                    let partition = program.read_partition(module, op).map_err(|r| locate(module, op, r))?;
                    program.partitions.push(partition);
                }
                _ => {}
            }
        }
        program.partitions.sort_by_key(|partition| partition.warp);
        program.check_partitions(module)?;
        program.find_straight(module);
        Ok(program)
    }

    fn check_launch(&self, target: &Target) -> Result<()> {
        let most = u64::from(target.threads.warps_per_cta());
        if self.warps == 0 || self.warps > most {
            let text = format!("{} warps; a CTA has 1 to {most}", self.warps);
            return Err(refuse(Code::Target, text).rule("T3").into());
        }
        if self.shared > target.smem.per_cta {
            let text = format!("shared memory {} B of {} B", self.shared, target.smem.per_cta);
            return Err(refuse(Code::Capacity, text).rule("T2").into());
        }
        let registers = self.max_registers * 32 * self.warps;
        if !(24..=256).contains(&self.max_registers) || registers > u64::from(target.registers.per_cta) {
            let text = format!("{} registers for each of {} warps", self.max_registers, self.warps);
            let most = format!("24 to 256, and {} for the CTA", target.registers.per_cta);
            return Err(refuse(Code::Registers, text).rule("C31").note("needs", most).into());
        }
        Ok(())
    }

    /// What is allocated of tensor memory (C20, C27, T14).
    fn read_tmem(&self, module: &Module, target: &Target) -> Result<Option<Tmem>> {
        let columns = match module.attr(self.func, "warploom.tmem") {
            None => return Ok(None),
            Some(_) => count(module, self.func, "warploom.tmem")?,
        };
        let slot = count(module, self.func, "warploom.tmem_slot")?;
        let Some(limits) = &target.tmem else {
            let text = format!("{} has no tensor memory", target.name());
            return Err(refuse(Code::Target, text).rule("T5").into());
        };
        let (least, most) = (u64::from(limits.min_alloc), u64::from(limits.columns));
        if !columns.is_power_of_two() || !(least..=most).contains(&columns) {
            let text = format!("an allocation of {columns} columns of tensor memory");
            let needs = format!("a power of two from {least} to {most}");
            return Err(refuse(Code::Capacity, text).rule("T14").note("needs", needs).into());
        }
        if slot % 4 != 0 || slot.checked_add(4).is_none_or(|end| end > self.shared) {
            let text = format!("the address of tensor memory at byte {slot} of {}", self.shared);
            return Err(refuse(Code::Verify, text).rule("C20").into());
        }
        Ok(Some(Tmem { columns, slot }))
    }

    /// The records of C12, each matching its parameter.
    fn read_descriptors(&self, module: &Module) -> Result<Vec<TensorDescriptor>> {
        let records = match module.attr(self.func, "warploom.descriptors") {
            Some(Attr::Array(items)) => items.as_slice(),
            None => &[],
            Some(_) => {
                return Err(refuse(Code::Verify, "warploom.descriptors is an array").rule("C12").into());
            }
        };
        let params: Vec<&Type> = self.params.iter().map(|&p| module.ty(p)).filter(|t| t.is_desc()).collect();
        if params.len() != records.len() {
            let text = format!("{} descriptor parameters, {} records of them", params.len(), records.len());
            return Err(refuse(Code::Verify, text).rule("C12").into());
        }
        let read = |(attr, ty): (&Attr, &&Type)| match attr {
            Attr::Dict(dict) => descriptor(dict, ty),
            _ => Err(refuse(Code::Verify, "a descriptor record is a dictionary").rule("C12").into()),
        };
        records.iter().zip(&params).map(read).collect()
    }

    fn read_barrier(&self, module: &Module, op: OpId) -> Result<NamedBarrier> {
        let (id, threads) = (count(module, op, "id")?, count(module, op, "threads")?);
        if !(1..=15).contains(&id) || threads == 0 || threads % 32 != 0 || threads > 32 * self.warps {
            let text = format!("named barrier {id} for {threads} threads");
            let needs = "id 1..15, whole warps of the CTA";
            return Err(refuse(Code::Verify, text).rule("C32").note("needs", needs).into());
        }
        Ok(NamedBarrier { id, threads })
    }
}

/// Whether PTX takes this as a name: letters, digits, `_` and `$`, not starting with a digit.
fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}

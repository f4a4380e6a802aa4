//! The staging buffers of the stores behind the loops: one for each store and computing partition.

use warploom_bufassign::{AccessRole as Access, Consumer, Producer};
use warploom_chips::cost::{CostError, Op as Cost};

use super::build::{Builder, Line, SECOND, partition, tile};
use super::numbering::staging_value;
use crate::loops::PartitionRole;

/// The first write into a staging buffer, and the cycle and order behind all stores.
type Stored = (Option<u64>, (u64, u64));

impl Builder<'_> {
    /// The stores of each computing partition, in line from a cycle and an order on; gives the first write into a buffer,
    /// and where the line ends.
    pub(super) fn stores(&mut self, after: u64, from: (u64, u64)) -> Result<Stored, CostError> {
        let (selection, target) = (self.source.selection, self.source.target);
        let warps = selection.warpgroups().saturating_mul(target.threads.warps_per_group);
        let (mut first_put, mut end) = (None, from);
        let computing = [partition(PartitionRole::Math), SECOND].into_iter().take(selection.computing());
        for (replica, partition) in computing.enumerate() {
            // They stand in one line, though nothing orders partitions.
            let (mut cycle, mut order) = end;
            for (index, store) in selection.stores.iter().enumerate() {
                let bytes = store.plan.bytes;
                let write = target.cost(&Cost::Shared { bytes }, warps)?.latency;
                let copy = target.cost(&Cost::TmaStore { bytes }, 1)?.latency;
                let at = |cycle, order, latency| Line { region: after, partition, cycle, order, latency };
                let name = match replica {
                    0 => store.name.clone(),
                    _ => format!("{} of math{replica}", store.name),
                };
                let put = self.line_op(format!("put {name}"), &at(cycle, order, write), false);
                first_put = first_put.or(Some(put));
                cycle = cycle.saturating_add(write);
                let send = self.line_op(format!("store {name}"), &at(cycle, order + 1, copy), true);
                cycle = cycle.saturating_add(copy);
                order += 2;
                let id = staging_value(selection, replica * selection.stores.len() + index);
                let mut value = tile(id, &name, &store.plan, Producer { op: put, role: Access::RegWrite });
                value.consumers =
                    vec![Consumer { op: send, role: Access::TmaStore, distance: 0, in_place: false }];
                self.values.push(value);
            }
            end = (cycle, order);
        }
        Ok((first_put, end))
    }
}

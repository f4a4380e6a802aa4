//! Members of structures and lanes of vectors.

use inkwell::types::BasicTypeEnum;

use super::{Ir, Val};
use crate::error::{Result, internal};

impl<'c> Ir<'c, '_> {
    /// Member `index` of a structure.
    pub fn member(&self, aggregate: Val<'c>, index: u32) -> Result<Val<'c>> {
        match aggregate {
            Val::StructValue(value) => Ok(self.builder.build_extract_value(value, index, "")?),
            _ => Err(internal("member of a value without members")),
        }
    }

    /// Element `index` of a vector.
    pub fn lane(&self, vector: Val<'c>, index: u64) -> Result<Val<'c>> {
        match vector {
            Val::VectorValue(value) => Ok(self.builder.build_extract_element(value, self.c32(index), "")?),
            _ => Err(internal("element of a value that is no vector")),
        }
    }

    /// The vector `<a, b>`.
    pub fn pair(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let empty = match a.get_type() {
            BasicTypeEnum::FloatType(ty) => ty.vec_type(2).get_poison(),
            BasicTypeEnum::IntType(ty) => ty.vec_type(2).get_poison(),
            _ => return Err(internal("a pair of neither integers nor floats")),
        };
        let first = self.builder.build_insert_element(empty, a, self.c32(0), "")?;
        Ok(self.builder.build_insert_element(first, b, self.c32(1), "")?.into())
    }

    /// The vector of these values; one is itself.
    pub fn vector(&self, values: &[Val<'c>]) -> Result<Val<'c>> {
        let (Some(first), count) = (values.first(), values.len() as u32) else {
            return Err(internal("a vector of nothing"));
        };
        let mut vector = match first.get_type() {
            _ if count == 1 => return Ok(*first),
            BasicTypeEnum::FloatType(ty) => ty.vec_type(count).get_poison(),
            BasicTypeEnum::IntType(ty) => ty.vec_type(count).get_poison(),
            _ => return Err(internal("a vector of neither integers nor floats")),
        };
        for (i, &value) in (0..).zip(values) {
            vector = self.builder.build_insert_element(vector, value, self.c32(i), "")?;
        }
        Ok(vector.into())
    }
}

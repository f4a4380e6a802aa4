//! Enumerated properties: the keyword of the custom assembly and the number of the generic form.
//!
//! In memory such a property is `Attr::Opaque(keyword)`. MLIR's generic form writes the number; it is read
//! back into the keyword, so that a kernel has one meaning whichever way it was spelt.

/// The keywords of one enumeration with their numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct Keywords {
    /// Width in bits of the integer type of the generic form.
    pub bits: u32,
    /// Keyword and number.
    pub table: &'static [(&'static str, i128)],
}

impl Keywords {
    /// The number of a keyword.
    pub(crate) fn number(&self, word: &str) -> Option<i128> {
        self.table.iter().find(|(w, _)| *w == word).map(|(_, n)| *n)
    }

    /// The keyword of a number.
    pub(crate) fn word(&self, number: i128) -> Option<&'static str> {
        self.table.iter().find(|(_, n)| *n == number).map(|(w, _)| *w)
    }

    /// All keywords, for messages.
    pub(crate) fn list(&self) -> String {
        let words: Vec<&str> = self.table.iter().map(|(w, _)| *w).collect();
        words.join(", ")
    }
}

macro_rules! keywords {
    ($($(#[$doc:meta])* $name:ident: $bits:literal = $($word:literal $number:literal),+;)*) => {
        $($(#[$doc])* pub(crate) const $name: Keywords =
            Keywords { bits: $bits, table: &[$(($word, $number)),+] };)*
    };
}

keywords! {
    /// `axis` of `tt.get_program_id`.
    AXIS: 32 = "x" 0, "y" 1, "z" 2;
    /// `predicate` of `arith.cmpi`.
    CMPI: 64 = "eq" 0, "ne" 1, "slt" 2, "sle" 3, "sgt" 4, "sge" 5, "ult" 6, "ule" 7, "ugt" 8, "uge" 9;
    /// `predicate` of `arith.cmpf`.
    CMPF: 64 = "false" 0, "oeq" 1, "ogt" 2, "oge" 3, "olt" 4, "ole" 5, "one" 6, "ord" 7, "ueq" 8, "ugt" 9,
        "uge" 10, "ult" 11, "ule" 12, "une" 13, "uno" 14, "true" 15;
    /// `roundingmode` of `arith.truncf`.
    ROUNDING_MODE: 32 = "to_nearest_even" 0, "downward" 1, "upward" 2, "toward_zero" 3, "to_nearest_away" 4;
    /// `rounding` of `tt.fp_to_fp`.
    ROUNDING: 32 = "rtz" 0, "rtne" 1;
    /// `propagateNan` of `tt.clampf`.
    PROPAGATE_NAN: 32 = "none" 0, "all" 65535;
    /// `inputPrecision` of `tt.dot`.
    INPUT_PRECISION: 32 = "tf32" 0, "tf32x3" 1, "ieee" 2, "bf16x3" 3, "bf16x6" 4;
    /// `a_elem_type`, `b_elem_type` of `tt.dot_scaled`.
    SCALE_TYPE: 32 = "e4m3" 0, "e5m2" 1, "e2m3" 2, "e3m2" 3, "e2m1" 4, "bf16" 5, "fp16" 6;
    /// `atomic_rmw_op` of `tt.atomic_rmw`.
    RMW: 32 = "and" 1, "or" 2, "xor" 3, "add" 4, "fadd" 5, "max" 6, "min" 7, "umax" 8, "umin" 9, "exch" 10;
    /// `sem` of the atomic operations.
    SEM: 32 = "relaxed" 1, "acquire" 2, "release" 3, "acq_rel" 4;
    /// `scope` of the atomic operations.
    SCOPE: 32 = "gpu" 1, "cta" 2, "sys" 3;
    /// `kind` of `tt.descriptor_reduce`.
    REDUCE_KIND: 32 = "add" 1, "min" 2, "max" 3, "inc" 4, "dec" 5, "and" 6, "or" 7, "xor" 8;
}

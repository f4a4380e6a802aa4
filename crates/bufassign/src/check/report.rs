//! What the checker finds.

/// Something wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssignViolation {
    /// The rule that is broken.
    pub rule: &'static str,
    /// Values concerned.
    pub values: Vec<u64>,
    /// What was found and what is required.
    pub message: String,
}

impl std::fmt::Display for AssignViolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (values {:?}) [{}]", self.message, self.values, self.rule)
    }
}

/// Collects violations.
#[derive(Default)]
pub(super) struct Report(pub(super) Vec<AssignViolation>);

impl Report {
    pub fn add(&mut self, rule: &'static str, values: &[u64], message: impl Into<String>) {
        self.0.push(AssignViolation { rule, values: values.to_vec(), message: message.into() });
    }

    /// Notes a difference between what stands there and what is required.
    pub fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        rule: &'static str,
        value: u64,
        field: &str,
        found: &T,
        required: &T,
    ) {
        if found != required {
            self.add(rule, &[value], format!("{field} is {found:?}, required is {required:?}"));
        }
    }
}

//! The chips that are built in, from their data files.

use crate::{Target, TargetError, file};

/// The nine chips of T2 with their data files, oldest first.
const BUILT_IN: [(&str, &str); 9] = [
    ("sm_80", include_str!("../data/sm_80.toml")),
    ("sm_86", include_str!("../data/sm_86.toml")),
    ("sm_89", include_str!("../data/sm_89.toml")),
    ("sm_90a", include_str!("../data/sm_90a.toml")),
    ("sm_100a", include_str!("../data/sm_100a.toml")),
    ("sm_103a", include_str!("../data/sm_103a.toml")),
    ("sm_110a", include_str!("../data/sm_110a.toml")),
    ("sm_120a", include_str!("../data/sm_120a.toml")),
    ("sm_121a", include_str!("../data/sm_121a.toml")),
];

impl Target {
    /// The chip of this name, one of [`Target::names`].
    ///
    /// # Errors
    /// [`TargetError::PlainName`] for a name without its `a` (`sm_90`), [`TargetError::UnknownChip`] for
    /// any other (T1).
    ///
    /// ```
    /// use warploom_chips::{Feature, Target};
    /// let hopper = Target::named("sm_90a").unwrap();
    /// assert!(hopper.has(Feature::Wgmma));
    /// assert_eq!(hopper.smem.per_cta, 232_448);
    /// assert!(Target::named("sm_90").is_err());
    /// ```
    pub fn named(name: &str) -> Result<Target, TargetError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return file::read_target(text);
        }
        let with_suffix = BUILT_IN.iter().find(|(known, _)| known.strip_suffix('a') == Some(name));
        Err(match with_suffix {
            Some((instead, _)) => TargetError::PlainName { name: name.to_owned(), instead },
            None => TargetError::UnknownChip { name: name.to_owned(), known: Target::names().join(", ") },
        })
    }

    /// Names of all chips, oldest first.
    pub fn names() -> [&'static str; 9] {
        BUILT_IN.map(|(name, _)| name)
    }

    /// All chips, oldest first.
    ///
    /// # Errors
    /// None in practice: a test reads every built-in file.
    pub fn all() -> Result<Vec<Target>, TargetError> {
        Target::names().iter().map(|name| Target::named(name)).collect()
    }
}

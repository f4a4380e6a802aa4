//! What an operation holds: a unit of one resource, or of one of several (S4, S103).

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// One unit of `resource`, held in the cycles `t + start .. t + start + duration - 1` (S4).
///
/// In JSON `"resource"` is a name, or a list of names of which the answer tells one (S103).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RawUse", into = "RawUse")]
pub struct ResourceUse {
    /// Name of a declared resource.
    pub resource: String,
    /// Others that would do as well; the answer's bindings say which is taken in every iteration.
    pub alternatives: Vec<String>,
    /// Cycles after the operation's start.
    pub start: u64,
    /// Cycles held; 0 occupies nothing.
    pub duration: u64,
}

impl ResourceUse {
    /// The resources it may be bound to, the first first.
    pub fn choices(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.resource.as_str()).chain(self.alternatives.iter().map(String::as_str))
    }
}

#[derive(Serialize, Deserialize)]
struct RawUse {
    resource: Names,
    #[serde(default)]
    start: u64,
    duration: u64,
}

/// A name, or a list of them.
struct Names(Vec<String>);

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &*self.0 {
            [name] => name.serialize(serializer),
            names => names.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a resource, or a list of names")
            }

            fn visit_str<E>(self, name: &str) -> Result<Names, E> {
                Ok(Names(vec![name.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl From<RawUse> for ResourceUse {
    fn from(raw: RawUse) -> Self {
        let mut names = raw.resource.0.into_iter();
        // No name at all is refused with the graph, as an empty one.
        let resource = names.next().unwrap_or_default();
        ResourceUse { resource, alternatives: names.collect(), start: raw.start, duration: raw.duration }
    }
}

impl From<ResourceUse> for RawUse {
    fn from(u: ResourceUse) -> Self {
        let mut names = vec![u.resource];
        names.extend(u.alternatives);
        RawUse { resource: Names(names), start: u.start, duration: u.duration }
    }
}

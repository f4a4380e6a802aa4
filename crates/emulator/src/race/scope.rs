//! Scopes of strong accesses and fences (E99).

/// The threads that a strong access, an atomic or a fence counts for. `.sys` is `.gpu` here: there is no host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Those of the CTA.
    Cta,
    /// Those of the cluster.
    Cluster,
    /// All.
    #[default]
    Gpu,
}

/// A CTA: its cluster, and its rank there.
pub(crate) type CtaOf = (u32, u32);

impl Scope {
    /// All of them, the narrowest first.
    pub(crate) const ALL: [Scope; 3] = [Scope::Cta, Scope::Cluster, Scope::Gpu];

    /// The narrowest scope that holds both CTAs.
    pub(crate) fn between(a: CtaOf, b: CtaOf) -> Scope {
        if a == b {
            Scope::Cta
        } else if a.0 == b.0 {
            Scope::Cluster
        } else {
            Scope::Gpu
        }
    }
}

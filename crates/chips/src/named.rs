//! Enumerations whose variants have names in data files.

/// Declares such an enumeration, with `ALL`, `key` and `Display`; serde uses the same names.
macro_rules! named {
    ($(#[$outer:meta])* $type:ident { $($(#[$doc:meta])* $name:ident = $key:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[non_exhaustive]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $key)] $name,)*
        }

        impl $type {
            /// Every variant, in order.
            pub const ALL: &[$type] = &[$($type::$name,)*];

            /// Name in data files and tables.
            pub fn key(self) -> &'static str {
                match self {
                    $($type::$name => $key,)*
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.key())
            }
        }
    };
}

pub(crate) use named;

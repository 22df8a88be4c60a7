//! Elements that only contain a list: `<Outputs><Unknown/>…</Outputs>` is a `Vec<Unknown>` in Rust.
//!
//! One module per type of item, each a pair of functions for serde's `with`.

/// Defines the module `$module` for lists of elements called `$element`.
macro_rules! list_of {
    ($module:ident, $element:literal, $Item:ty) => {
        pub(crate) mod $module {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            #[derive(Serialize)]
            struct Borrowed<'a> {
                #[serde(rename = $element)]
                items: &'a [$Item],
            }

            #[derive(Deserialize)]
            struct Owned {
                #[serde(rename = $element, default = "Vec::new")]
                items: Vec<$Item>,
            }

            pub(crate) fn serialize<S: Serializer>(items: &[$Item], serializer: S) -> Result<S::Ok, S::Error> {
                Borrowed { items }.serialize(serializer)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<$Item>, D::Error> {
                Owned::deserialize(deserializer).map(|owned| owned.items)
            }
        }
    };
}

list_of!(units, "Unit", crate::Unit);
list_of!(simple_types, "SimpleType", crate::SimpleType);
list_of!(categories, "Category", crate::Category);
list_of!(tools, "Tool", crate::Tool);
list_of!(variables, "ScalarVariable", crate::ScalarVariable);
list_of!(annotations, "Annotation", crate::xml::fmi3::Annotation);
list_of!(unknowns, "Unknown", crate::Unknown);

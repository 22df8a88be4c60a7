//! Contents of a `Tool`: one element whose attributes are keys and values.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserializer, Serializer};

/// Writes every key as an attribute.
pub(crate) fn serialize<S: Serializer>(
    annotation: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(annotation.iter().map(|(k, v)| (format!("@{k}"), v)))
}

/// Reads the attributes and skips child elements, which other tools may write.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    deserializer.deserialize_map(Attributes)
}

struct Attributes;

impl<'de> Visitor<'de> for Attributes {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an element with attributes")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut attributes = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if let Some(name) = key.strip_prefix('@') {
                attributes.insert(name.to_owned(), map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(attributes)
    }
}

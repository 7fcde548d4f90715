//! Numbers in JSON, which has no word for what is not finite: such values are written `null`
//! and read as NaN.

/// Lists of pairs.
pub mod pairs {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes pairs; what is not finite becomes `null`.
    pub fn serialize<S: Serializer>(pairs: &[[f64; 2]], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(
            pairs
                .iter()
                .map(|pair| pair.map(|v| v.is_finite().then_some(v))),
        )
    }

    /// Reads pairs; `null` becomes NaN.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[f64; 2]>, D::Error> {
        let pairs = Vec::<[Option<f64>; 2]>::deserialize(from)?;
        Ok(pairs
            .into_iter()
            .map(|pair| pair.map(|v| v.unwrap_or(f64::NAN)))
            .collect())
    }
}

/// One number.
pub mod number {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    /// Writes a number; what is not finite becomes `null`.
    pub fn serialize<S: Serializer>(value: &f64, out: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(out)
    }

    /// Reads a number; `null` becomes NaN.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
    }
}

/// Lists of numbers.
pub mod list {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes numbers; what is not finite becomes `null`.
    pub fn serialize<S: Serializer>(list: &[f64], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(list.iter().map(|v| v.is_finite().then_some(*v)))
    }

    /// Reads numbers; `null` becomes NaN.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let list = Vec::<Option<f64>>::deserialize(from)?;
        Ok(list.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect())
    }
}

//! A part of a message that is read when it is opened.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, ser::Error as _,
};

/// What the engine has to say, in a message as JSON text of its own. A page holds the code that reads
/// a parcel only if it opens parcels of this kind, which makes pages smaller.
#[derive(Clone, Debug, PartialEq)]
pub enum Parcel<T> {
    /// As it was packed; it has not been sent.
    Open(Box<T>),
    /// As it was received.
    Sealed(String),
}

impl<T> From<T> for Parcel<T> {
    fn from(content: T) -> Self {
        Self::Open(Box::new(content))
    }
}

impl<T: DeserializeOwned> Parcel<T> {
    /// What is in it. Only an engine of another version packs what cannot be read.
    pub fn open(self) -> Result<T, String> {
        match self {
            Self::Open(content) => Ok(*content),
            Self::Sealed(text) => serde_json::from_str(&text).map_err(|error| {
                format!("the engine's answer could not be read ({error}); reload the page to get both anew")
            }),
        }
    }
}

impl<T: Serialize> Serialize for Parcel<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Open(content) => {
                let text = serde_json::to_string(content).map_err(S::Error::custom)?;
                serializer.serialize_str(&text)
            }
            Self::Sealed(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de, T> Deserialize<'de> for Parcel<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::Sealed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_is_sent_and_opened() {
        let numbers = vec![0.1 + 0.2, -1e-300];
        let sent = serde_json::to_string(&Parcel::from(numbers.clone())).unwrap();
        let received: Parcel<Vec<f64>> = serde_json::from_str(&sent).unwrap();
        assert!(matches!(received, Parcel::Sealed(_)));
        assert_eq!(serde_json::to_string(&received).unwrap(), sent);
        assert_eq!(received.open(), Ok(numbers));
    }

    #[test]
    fn what_is_not_in_it_is_said() {
        let error = Parcel::<bool>::Sealed("[".to_owned()).open().unwrap_err();
        assert!(
            error.contains("could not be read") && error.contains("reload"),
            "{error}"
        );
    }
}

//! The arguments of a call, as a model gave them.

use serde_json::{Map, Value};
use std::hash::{Hash, Hasher};

/// What was given.
#[derive(Debug)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// # Errors
    /// If one is given that the schema `input` does not have, or one is missing.
    pub(crate) fn new(given: Option<Map<String, Value>>, input: &Value) -> Result<Arguments, String> {
        let given = given.unwrap_or_default();
        let known = input.get("properties").and_then(Value::as_object);
        let names =
            || known.into_iter().flat_map(|known| known.keys()).cloned().collect::<Vec<_>>().join(", ");
        if let Some(odd) = given.keys().find(|name| !known.is_some_and(|known| known.contains_key(*name))) {
            let odd: String = odd.chars().take(60).collect();
            return Err(format!("there is no argument {odd:?}; there are {}", names()));
        }
        let required =
            input.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| !given.contains_key(*name)) {
            return Err(format!("the argument `{missing}` is missing"));
        }
        Ok(Arguments(given))
    }

    /// What is given under that name; `null` is nothing.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, String> {
        let as_text = |value: &'_ Value| value.is_string();
        match self.get(name) {
            Some(value) if !as_text(value) => Err(format!("`{name}` is a text")),
            value => Ok(value.and_then(Value::as_str)),
        }
    }

    /// Texts: one, or a list.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        /// More are no question.
        const MOST: usize = 16;
        let wrong = || format!("`{name}` is a text, or a list of up to {MOST}");
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(all)) if all.len() <= MOST => {
                all.iter().map(|text| text.as_str().map(str::to_string).ok_or_else(wrong)).collect()
            }
            Some(_) => Err(wrong()),
        }
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| format!("`{name}` is a whole number")),
        }
    }

    /// Yes or no.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| format!("`{name}` is true or false")),
        }
    }
}

/// Of all but the cursor: they are the question.
impl Hash for Arguments {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for (name, value) in self.0.iter().filter(|(name, _)| *name != "cursor") {
            (name, value.to_string()).hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(given: Value) -> Result<Arguments, String> {
        let input =
            json!({ "properties": { "file": {}, "many": {}, "n": {}, "is": {} }, "required": ["file"] });
        Arguments::new(given.as_object().cloned(), &input)
    }

    #[test]
    fn what_is_given_is_of_its_kind_or_refused() {
        let arguments =
            given(json!({ "file": "a", "many": ["b", "c"], "n": 3, "is": true })).expect("arguments");
        assert_eq!(arguments.text("file"), Ok(Some("a")));
        assert_eq!(arguments.texts("many"), Ok(vec!["b".to_string(), "c".to_string()]));
        assert_eq!((arguments.number("n"), arguments.flag("is")), (Ok(Some(3)), Ok(true)));
        assert!(
            arguments.text("n").is_err() && arguments.number("file").is_err() && arguments.flag("n").is_err()
        );
        assert!(given(json!({ "file": ["a", 1] })).expect("given").texts("file").is_err());
        assert!(given(json!({ "file": vec!["a"; 17] })).expect("given").texts("file").is_err());
        assert!(given(json!({})).expect_err("none").contains("`file` is missing"));
        assert!(given(json!({ "file": "a", "--show-secrets": 1 })).expect_err("odd").contains("no argument"));
        assert!(given(json!({ "file": "a", "n": -1 })).expect("given").number("n").is_err());
    }
}

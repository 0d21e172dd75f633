//! The last answers of commands: the next page of one needs no second reading.

use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers that are kept.
const MOST: usize = 8;
/// Bytes of JSON that they have together.
const MOST_BYTES: usize = 64 << 20;

/// What a question is: the words of its command, and the stamps of its inputs.
pub(crate) type Asked = (Vec<std::ffi::OsString>, Vec<u64>);

/// The last answers, the newest last.
#[derive(Default)]
pub(crate) struct Cache(Mutex<VecDeque<(Asked, usize, Arc<Value>)>>);

impl Cache {
    pub(crate) fn get(&self, asked: &Asked) -> Option<Arc<Value>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, ..)| known == asked).map(|(.., answer)| Arc::clone(answer))
    }

    /// Keeps an answer of so many bytes.
    pub(crate) fn put(&self, asked: Asked, bytes: usize, answer: &Arc<Value>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, ..)| *known != asked);
        kept.push_back((asked, bytes, Arc::clone(answer)));
        while kept.len() > MOST || kept.iter().map(|(_, bytes, _)| bytes).sum::<usize>() > MOST_BYTES {
            kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answers_are_kept_as_far_as_there_is_room() {
        let cache = Cache::default();
        let asked = |number: u64| (vec!["diagnose".into()], vec![number]);
        for number in 0..20 {
            cache.put(asked(number), 10, &Arc::new(Value::from(number)));
        }
        assert_eq!(cache.get(&asked(11)), None);
        assert_eq!(cache.get(&asked(12)).as_deref(), Some(&Value::from(12)));
        cache.put(asked(30), MOST_BYTES, &Arc::new(Value::from(30)));
        assert_eq!(cache.get(&asked(19)), None, "the room is used up");
        assert!(cache.get(&asked(30)).is_some());
        cache.put(asked(31), MOST_BYTES + 1, &Arc::new(Value::from(31)));
        assert_eq!(cache.get(&asked(31)), None, "it alone is too large");
    }
}

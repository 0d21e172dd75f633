//! Names of threads, looked up when a question first asks for one.

use crate::captures::Opened;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringViewArray, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Int64Type, UInt32Type};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, OnceLock};

/// The names of each recording.
pub(crate) struct Names {
    recordings: Vec<(Arc<Opened>, OnceLock<Known>)>,
}

/// Names by thread and by process, as places in `words`.
#[derive(Default)]
struct Known {
    words: Option<ArrayRef>,
    threads: HashMap<i64, u32>,
    processes: HashMap<i64, u32>,
}

impl Names {
    pub(crate) fn new(recordings: &[Arc<Opened>]) -> Names {
        Names { recordings: recordings.iter().map(|one| (one.clone(), OnceLock::new())).collect() }
    }

    fn of(&self, recording: &str) -> Option<&Known> {
        let (opened, known) = self.recordings.iter().find(|(opened, _)| opened.name == recording)?;
        Some(known.get_or_init(|| Known::read(opened)))
    }
}

impl Known {
    fn read(opened: &Opened) -> Known {
        let mut read = Read::default();
        let Some(table) = whyslow_store::table("threads") else { return Known::default() };
        let Ok(sound) = whyslow_store::sound_parts(&opened.tables, table) else { return Known::default() };
        for part in sound.parts {
            let reader = File::open(&part.path)
                .ok()
                .and_then(|file| ParquetRecordBatchReaderBuilder::try_new(file).ok()?.build().ok());
            reader.into_iter().flatten().flatten().for_each(|batch| read.add(&batch));
        }
        let words: StringViewArray = read.words.iter().map(|word| Some(word.as_str())).collect();
        Known { words: Some(Arc::new(words)), threads: read.threads, processes: read.processes }
    }

    fn place(&self, pid: Option<i64>, tid: Option<i64>) -> Option<u32> {
        let own = tid.and_then(|tid| self.threads.get(&tid));
        let process = || self.processes.get(&pid?).or_else(|| self.threads.get(&pid?));
        own.or_else(process).or_else(|| self.processes.get(&tid?)).copied()
    }
}

/// What is read so far.
#[derive(Default)]
struct Read {
    words: Vec<String>,
    places: HashMap<String, u32>,
    threads: HashMap<i64, u32>,
    processes: HashMap<i64, u32>,
}

impl Read {
    /// A later name is the one that holds.
    fn add(&mut self, batch: &RecordBatch) {
        let number = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<UInt32Type>();
        let (Some(pids), Some(tids)) = (number("pid"), number("tid")) else { return };
        let Some(names) = batch.column_by_name("comm").and_then(|names| names.as_string_opt::<i32>()) else {
            return;
        };
        for at in 0..batch.num_rows() {
            if names.is_null(at) || pids.is_null(at) {
                continue;
            }
            let word = names.value(at);
            let place = match self.places.get(word) {
                Some(place) => *place,
                None => {
                    self.words.push(word.to_string());
                    let place = self.words.len() as u32 - 1;
                    self.places.insert(word.to_string(), place);
                    place
                }
            };
            match tids.is_valid(at) {
                true => self.threads.insert(tids.value(at).into(), place),
                false => self.processes.insert(pids.value(at).into(), place),
            };
        }
    }
}

/// `name_of(recording, pid, tid)`.
pub(super) fn function(names: Arc<Names>) -> ScalarUDF {
    let work = move |args: &[ColumnarValue]| {
        let scalar = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(args)?;
        super::given(look_up(&names, &arrays)?, scalar)
    };
    let takes = vec![DataType::Utf8View, DataType::Int64, DataType::Int64];
    create_udf("name_of", takes, DataType::Utf8View, Volatility::Stable, Arc::new(work))
}

fn look_up(names: &Names, arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let recordings = arrays[0].as_string_view();
    let (pids, tids) = (arrays[1].as_primitive::<Int64Type>(), arrays[2].as_primitive::<Int64Type>());
    let number = |numbers: &datafusion::arrow::array::Int64Array, at: usize| {
        numbers.is_valid(at).then(|| numbers.value(at))
    };
    let one = recordings
        .iter()
        .next()
        .flatten()
        .filter(|first| recordings.iter().all(|other| other == Some(first)));
    if let Some(known) = one.and_then(|recording| names.of(recording))
        && let Some(words) = &known.words
    {
        let places = (0..tids.len()).map(|at| known.place(number(pids, at), number(tids, at)));
        return Ok(take(words, &UInt32Array::from_iter(places), None)?);
    }
    let found = (0..tids.len()).map(|at| {
        let known = names.of(recordings.is_valid(at).then(|| recordings.value(at))?)?;
        let place = known.place(number(pids, at), number(tids, at))? as usize;
        Some(known.words.as_ref()?.as_string_view().value(place))
    });
    Ok(Arc::new(StringViewArray::from_iter(found)))
}

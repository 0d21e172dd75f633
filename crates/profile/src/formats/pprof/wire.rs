//! Protocol buffers on the wire: fields of a message in memory (protobuf.dev/programming-guides/encoding).

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value<'a> {
    Varint(u64),
    /// Four or eight fixed bytes: pprof has no such field, newer producers may.
    Fixed,
    Bytes(&'a [u8]),
}

/// What is wrong with a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WireError {
    /// A number of more than ten bytes, or one that the message ends in.
    Varint,
    /// A field that claims more bytes than the message has.
    Length { claimed: u64, left: usize },
    /// A wire type that protobuf does not have, or another one than the field's.
    Type { field: u64, wire_type: u64 },
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WireError::Varint => write!(f, "a number without an end"),
            WireError::Length { claimed, left } => {
                write!(f, "a field of {claimed} bytes where {left} are left")
            }
            WireError::Type { field, wire_type } => write!(f, "field {field} has wire type {wire_type}"),
        }
    }
}

/// The fields of one message.
pub(super) struct Fields<'a> {
    data: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(data: &'a [u8]) -> Fields<'a> {
        Fields { data }
    }

    /// The next field's number and value.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, WireError> {
        if self.data.is_empty() {
            return Ok(None);
        }
        let tag = varint(&mut self.data)?;
        let value = match tag & 7 {
            0 => Value::Varint(varint(&mut self.data)?),
            1 => {
                split(&mut self.data, 8)?;
                Value::Fixed
            }
            2 => {
                let length = varint(&mut self.data)?;
                Value::Bytes(split(&mut self.data, length)?)
            }
            5 => {
                split(&mut self.data, 4)?;
                Value::Fixed
            }
            wire_type => return Err(WireError::Type { field: tag >> 3, wire_type }),
        };
        Ok(Some((tag >> 3, value)))
    }
}

#[inline]
fn split<'a>(data: &mut &'a [u8], length: u64) -> Result<&'a [u8], WireError> {
    let too_long = WireError::Length { claimed: length, left: data.len() };
    let (taken, rest) =
        usize::try_from(length).ok().and_then(|length| data.split_at_checked(length)).ok_or(too_long)?;
    *data = rest;
    Ok(taken)
}

/// Takes a number off the front. The common short ones first: ids of locations have one to three bytes.
#[inline(always)]
pub(super) fn varint(data: &mut &[u8]) -> Result<u64, WireError> {
    match **data {
        [first, ..] if first < 0x80 => {
            *data = &data[1..];
            Ok(u64::from(first))
        }
        [first, second, ..] if second < 0x80 => {
            *data = &data[2..];
            Ok(u64::from(first & 0x7f) | u64::from(second) << 7)
        }
        [first, second, third, ..] if third < 0x80 => {
            *data = &data[3..];
            Ok(u64::from(first & 0x7f) | u64::from(second & 0x7f) << 7 | u64::from(third) << 14)
        }
        _ => long_varint(data),
    }
}

#[cold]
fn long_varint(data: &mut &[u8]) -> Result<u64, WireError> {
    let mut value = 0;
    for (index, byte) in data.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            *data = &data[index + 1..];
            return Ok(value);
        }
    }
    Err(WireError::Varint)
}

impl Value<'_> {
    /// The number of a field that is one.
    #[inline]
    pub(super) fn number(self, field: u64) -> Result<u64, WireError> {
        match self {
            Value::Varint(value) => Ok(value),
            Value::Fixed => Err(WireError::Type { field, wire_type: 1 }),
            Value::Bytes(_) => Err(WireError::Type { field, wire_type: 2 }),
        }
    }

    /// Calls `each` for the numbers of a repeated field: packed in one or one by one.
    #[inline]
    pub(super) fn numbers(self, field: u64, mut each: impl FnMut(u64)) -> Result<(), WireError> {
        match self {
            Value::Bytes(mut packed) => {
                while !packed.is_empty() {
                    each(varint(&mut packed)?);
                }
                Ok(())
            }
            one => one.number(field).map(each),
        }
    }
}

impl<'a> Value<'a> {
    /// The bytes of a field that has some.
    #[inline]
    pub(super) fn bytes(self, field: u64) -> Result<&'a [u8], WireError> {
        match self {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Varint(_) => Err(WireError::Type { field, wire_type: 0 }),
            Value::Fixed => Err(WireError::Type { field, wire_type: 1 }),
        }
    }
}

//! NumPy's `.npy` files: integers and truth values of any width, and floating point under the rule
//! of `number`; read and written in C order.

use crate::number::{Number, of_element};

use crate::input_spec::{
    Filling, InputSpec, Loaded, element, element_count, has_shape, wrong_shape,
};
use crate::{read_from_it, unreadable, unreadable_but};

use npyz::{NpyFile, Order, WriteOptions, WriterBuilder};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_files::Accept;
use sealane_program::types::{Data, Type};
use sealane_program::{decimal, float};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// Reads the inputs of a file, each of which takes the whole array.
pub(crate) fn read(path: &Path, wants: &[InputSpec<'_>]) -> Result<Vec<Loaded>, Diagnostic> {
    wants.iter().map(|want| read_one(path, want)).collect()
}

/// Reads the elements of one input. A flat array fits any shape with as many elements.
fn read_one(path: &Path, want: &InputSpec<'_>) -> Result<Loaded, Diagnostic> {
    let input = want.input;
    if !input.kind.is_number() {
        let message = format!("{} holds no {}", path.display(), input.kind.name());
        return Err(Diagnostic::new(Code::DataType, message)
            .because(read_from_it(input))
            .hint("a `.npy` file holds numbers; give CSV, Parquet or a table"));
    }
    let bytes = sealane_files::read(path, Accept::FileOrPipe, most_bytes(want));
    let bytes = Zeroizing::new(bytes.map_err(|error| unreadable(path, &error))?);
    let refused = |cause: &'static str| unreadable(path, &cause);
    check_header(&bytes).map_err(refused)?;
    let file = NpyFile::new(&bytes[..]).map_err(|error| unreadable(path, &in_words(&error)))?;
    let dims = file.shape().to_vec();
    if file.order() != Order::C && dims.len() > 1 {
        return Err(refused("it is in Fortran order; save it in C order"));
    }
    let count = element_count(&dims);
    // An element takes at least one byte, so a header that claims more is refused.
    if count.is_none_or(|count| count > bytes.len() as u64) {
        return Err(refused("it is shorter than its header says"));
    }
    let first = || dims.first().copied().unwrap_or(1);
    let shape = want.shape(want.records().unwrap_or_else(first));
    let flat = dims.len() <= 1 && count == element_count(&shape);
    if !flat && !has_shape(input, &dims) {
        let place = format!(" in {}", path.display());
        return Err(wrong_shape(input, &dims, &place));
    }
    let mut filling = Filling::whole(*want, shape);
    fill(file, path, &dims, &mut filling)?;
    filling.loaded()
}

/// Most bytes of a file that can fill an input: 16 for each element, and room for the header and
/// for some rows more, so that those are refused by their number.
fn most_bytes(want: &InputSpec<'_>) -> u64 {
    let bound = want.rows.map(|rows| rows.bound);
    let records = want.records().or(bound).unwrap_or(1);
    let elements = records.saturating_mul(want.width());
    elements.saturating_mul(16).saturating_add(1 << 20)
}

/// Longest accepted header, as in NumPy.
const MOST_HEADER_BYTES: usize = 10_000;

/// Depth of nested brackets in a header: a shape within the whole, and some more for types that are
/// refused by name.
const MOST_NESTED: usize = 8;

/// Bounds the input of the header's parser: the claimed length, for which it allocates memory, and
/// the depth of brackets, in which its time grows exponentially.
fn check_header(bytes: &[u8]) -> Result<(), &'static str> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").unwrap_or_default();
    let header = match rest {
        [1, _, low, high, rest @ ..] => rest.get(..u16::from_le_bytes([*low, *high]).into()),
        [_, _, a, b, c, d, rest @ ..] => {
            let length = u32::from_le_bytes([*a, *b, *c, *d]);
            rest.get(..length as usize)
        }
        // The parser refuses a shorter or missing header.
        _ => return Ok(()),
    };
    let header = header.ok_or("it ends too early: it was cut off")?;
    if header.len() > MOST_HEADER_BYTES {
        return Err("its header is longer than any that NumPy reads");
    }
    let mut depth = 0usize;
    for byte in header {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_NESTED {
            return Err("its header nests more deeply than one of numbers does");
        }
    }
    Ok(())
}

/// Reads the elements of a file, an array with these dimensions, one by one.
fn fill(
    file: NpyFile<&[u8]>,
    path: &Path,
    dims: &[u64],
    input: &mut Filling<'_>,
) -> Result<(), Diagnostic> {
    let dtype = file.dtype().descr();
    fn int<'n>(number: impl Into<i128>) -> Number<'n> {
        Number::Int(number.into())
    }

    macro_rules! fill {
        ($($name:literal => $ty:ty as $of:expr),* $(,)?) => {
            match dtype.trim_matches('\'').trim_start_matches(['<', '>', '|', '=']) {
                $($name => {
                    let elements = file.data::<$ty>();
                    let elements = elements.map_err(|error| unreadable(path, &error))?;
                    for (at, number) in elements.enumerate() {
                        let number = number.map_err(|error| unreadable(path, &in_words(&error)))?;
                        let place = || format!("{} of {}", element(dims, at), path.display());
                        input.put(at, $of(number), place)?;
                    }
                    Ok(())
                })*
                other => Err(wrong_elements(path, other)),
            }
        };
    }
    fill! {
        "b1" => bool as int, "i1" => i8 as int, "i2" => i16 as int,
        "i4" => i32 as int, "i8" => i64 as int, "u1" => u8 as int,
        "u2" => u16 as int, "u4" => u32 as int, "u8" => u64 as int,
        "f4" => f32 as Number::from, "f8" => f64 as Number::from,
    }
}

fn wrong_elements(path: &Path, dtype: &str) -> Diagnostic {
    let cause = format!("its elements are {dtype}; {READ}");
    let hint = "convert it, then save it again: `x.astype(np.float64)`";
    if dtype.contains('f') {
        unreadable_but(path, &cause, hint)
    } else {
        unreadable(path, &cause)
    }
}

/// Element types that are read, as text.
const READ: &str = "integers, bool, float32 and float64 are read";

/// Writes one array, in the narrowest type of NumPy that represents the type of the data. Fixed
/// point becomes `float64`; the caller has checked that this is exact. Floating point of 16 bits
/// becomes `float32`.
pub(crate) fn write(file: impl Write, data: &Data) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    macro_rules! write {
        ($ty:ty, |$element:ident| $value:expr) => {{
            let options = WriteOptions::<$ty>::new().default_dtype();
            let options = options.shape(&data.shape);
            let mut writer = options.writer(&mut file).begin_nd()?;
            writer.extend(data.elements.iter().map(|$element| $value))?;
            writer.finish()?;
        }};
        ($ty:ty) => {
            write!($ty, |element| *element as $ty)
        };
    }
    match (data.ty, data.ty.bits()) {
        (Type::Bool, _) => write!(bool, |element| *element != 0),
        (Type::Fixed { .. }, _) => write!(f64, |element| {
            decimal::to_f64(of_element(data.ty, *element), data.ty.fraction()).0
        }),
        (Type::Float(format), ..=32) => write!(f32, |element| {
            float::to_f64((*element).into(), format) as f32
        }),
        (Type::Float(_), _) => write!(f64, |element| f64::from_bits(*element)),
        (Type::Int { signed: false, .. }, ..=8) => write!(u8),
        (Type::Int { signed: false, .. }, ..=16) => write!(u16),
        (Type::Int { signed: false, .. }, ..=32) => write!(u32),
        (Type::Int { signed: false, .. }, _) => write!(u64),
        (Type::Int { signed: true, .. }, ..=8) => write!(i8),
        (Type::Int { signed: true, .. }, ..=16) => write!(i16),
        (Type::Int { signed: true, .. }, ..=32) => write!(i32),
        (Type::Int { signed: true, .. }, _) => write!(i64),
    }
    file.flush()
}

/// Describes the fault of a file to people who do not know the format.
pub(crate) fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends too early: it was cut off".to_string(),
        _ if text.contains("magic") => "it is no `.npy` file".to_string(),
        _ if text.contains("type string") => format!("its elements are objects; {READ}"),
        _ => text,
    }
}

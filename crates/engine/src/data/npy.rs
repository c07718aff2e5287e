//! NumPy's `.npy` files: integers and truth values of any width, in C order.

use super::{
    check_range, element_count, has_shape, layout, read_file, shape, unreadable, unreadable_but,
    wrong_shape,
};
use npyz::{NpyFile, Order};
use sealane_program::diagnostic::Diagnostic;
use sealane_program::graph::Input;
use sealane_program::types::Data;
use std::io;
use std::path::Path;

/// The elements of one input. A flat array stands for any shape of as many elements.
pub(super) fn read(path: &Path, input: &Input) -> Result<Data, Diagnostic> {
    let bytes = read_file(path)?;
    let file = NpyFile::new(&bytes[..]).map_err(|error| unreadable(path, &in_words(&error)))?;
    let dims = file.shape().to_vec();
    if file.order() != Order::C && dims.len() > 1 {
        return Err(unreadable(
            path,
            &"it is in Fortran order; save it in C order",
        ));
    }
    let count = element_count(&dims);
    // An element takes at least one byte, so a header that claims more is not believed.
    if count.is_none_or(|count| count > bytes.len() as u64) {
        return Err(unreadable(path, &"it is shorter than its header says"));
    }
    let records = layout(input)
        .0
        .unwrap_or_else(|| dims.first().copied().unwrap_or(1));
    let shape = shape(input, records);
    let flat = dims.len() <= 1 && count == element_count(&shape);
    if !flat && !has_shape(input, &dims) {
        return Err(wrong_shape(
            input,
            &dims,
            &format!(" in {}", path.display()),
        ));
    }
    let dtype = file.dtype().descr();
    let numbers = elements(file, &dtype).map_err(|error| {
        let hint = "scale and convert it, then save it again: `np.rint(100 * x).astype(np.int64)`";
        match dtype.contains(['f', 'c']) {
            true => unreadable_but(path, &error, hint),
            false => unreadable(path, &error),
        }
    })?;
    for (i, number) in numbers.iter().enumerate() {
        check_range(input, *number, || {
            format!(" at element {i} of {}", path.display())
        })?;
    }
    let elements = numbers.into_iter().map(|number| number as u64).collect();
    Ok(Data {
        ty: input.ty,
        shape,
        elements,
    })
}

fn elements(file: NpyFile<&[u8]>, dtype: &str) -> Result<Vec<i128>, String> {
    macro_rules! read {
        ($($name:literal => $ty:ty),* $(,)?) => {
            match dtype.trim_matches('\'').trim_start_matches(['<', '>', '|', '=']) {
                $($name => file
                    .into_vec::<$ty>()
                    .map(|elements| elements.into_iter().map(i128::from).collect())
                    .map_err(|error| in_words(&error)),)*
                other => Err(format!(
                    "its elements are {other}; integers and bool are read, such as int64 or uint8"
                )),
            }
        };
    }
    read! {
        "b1" => bool, "i1" => i8, "i2" => i16, "i4" => i32, "i8" => i64,
        "u1" => u8, "u2" => u16, "u4" => u32, "u8" => u64,
    }
}

/// What is wrong with a file, for people who have never seen the inside of one.
fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends too early: it was cut off".to_string(),
        _ if text.contains("magic") => "it is no `.npy` file".to_string(),
        _ if text.contains("type string") => {
            "its elements are objects; integers and bool are read, such as int64 or uint8"
                .to_string()
        }
        _ => text,
    }
}

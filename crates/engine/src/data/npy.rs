//! NumPy's `.npy` files: integers and truth values of any width, in C order.

use super::{check, layout, read_file, shape, unreadable};
use npyz::{NpyFile, Order};
use sealane_program::diagnostic::Diagnostic;
use sealane_program::graph::Input;
use sealane_program::types::{Data, Type};
use std::path::Path;

pub(super) fn read(path: &Path, input: &Input) -> Result<Data, Diagnostic> {
    let bytes = read_file(path)?;
    let file = NpyFile::new(&bytes[..]).map_err(|error| unreadable(path, &error))?;
    if file.order() != Order::C && file.shape().len() > 1 {
        return Err(unreadable(
            path,
            &"it is in Fortran order; save it in C order",
        ));
    }
    let count = file.shape().iter().product::<u64>();
    // An element takes at least one byte, so a header that claims more is not believed.
    if count > bytes.len() as u64 {
        return Err(unreadable(path, &"it is shorter than its header says"));
    }
    let dims = file.shape().to_vec();
    let dtype = file.dtype().descr();
    let elements = elements(file, &dtype).map_err(|error| unreadable(path, &error))?;
    let (records, columns) = layout(input);
    let records = records.unwrap_or_else(|| dims.first().copied().unwrap_or(1));
    let shape = shape(input, records);
    if dims != shape && !(dims.iter().product::<u64>() == records * columns && dims.len() <= 1) {
        check(
            input,
            &Data {
                ty: input.ty,
                shape: dims,
                elements: vec![],
            },
        )?;
    }
    let mut data = Data {
        ty: input.ty,
        shape,
        elements: Vec::with_capacity(elements.len()),
    };
    for (i, element) in elements.iter().enumerate() {
        if *element < input.range.lo || *element > input.range.hi {
            let place = format!(" at element {i} of {}", path.display());
            return Err(super::out_of_range(
                input,
                &element.to_string(),
                None,
                &place,
            ));
        }
        data.elements.push(*element as u64);
    }
    let wide = matches!(input.ty, Type::Bool) && data.elements.iter().any(|element| *element > 1);
    if wide {
        Err(unreadable(path, &"a truth value is 0 or 1"))
    } else {
        Ok(data)
    }
}

fn elements(file: NpyFile<&[u8]>, dtype: &str) -> Result<Vec<i128>, String> {
    macro_rules! read {
        ($($name:literal => $ty:ty),* $(,)?) => {
            match dtype.trim_matches('\'').trim_start_matches(['<', '|', '=']) {
                $($name => file
                    .into_vec::<$ty>()
                    .map(|elements| elements.into_iter().map(i128::from).collect())
                    .map_err(|error| error.to_string()),)*
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

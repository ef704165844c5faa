//! The table of operations: JSON in, JSON out.

use crate::error::{AcemqError, Fault};
use crate::guard::{DONE, guard};
use crate::memory::{AcemqBuffer, text, text_out};
use acemq_core::api;
use serde_json::json;

/// Runs an operation of the engine's table: `input` and `output` are JSON objects.
///
/// acemq_operations lists the table. What is called for every message has a function of its own below, without JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_call(
    operation: *const u8,
    operation_len: usize,
    input: *const u8,
    input_len: usize,
    output: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let output = text_out(output, "output")?;
        let operation = text(operation, operation_len, "operation")?;
        output.put(api::call(operation, text(input, input_len, "input")?)?);
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The table of operations, JSON: [{"name","about","codes":[...],"input":SCHEMA,"output":SCHEMA}], sorted by name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_operations(output: *mut AcemqBuffer, error: *mut *mut AcemqError) -> i32 {
    let entry = || {
        let output = unsafe { text_out(output, "output") }?;
        let rows = api::OPERATIONS.iter().map(|operation| {
            json!({
                "name": operation.name,
                "about": operation.about,
                "codes": operation.codes().collect::<Vec<_>>(),
                "input": operation.input_schema(),
                "output": operation.output_schema(),
            })
        });
        output.put(rows.collect::<serde_json::Value>().to_string());
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Fails inside on purpose: ACEMQ_INTERNAL and an error with the code "internal". For the tests of bindings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_fail_inside(error: *mut *mut AcemqError) -> i32 {
    #[expect(clippy::panic, reason = "what this entry is for")]
    let entry = || -> Result<i32, Fault> { panic!("asked to") };
    unsafe { guard(error, entry) }
}

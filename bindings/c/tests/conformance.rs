//! The conformance suites through the C ABI: the functions without JSON where there is one, else `acemq_call` and the handles.

use acemq::*;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::ptr::null_mut;

fn read(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

#[test]
fn every_case_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let index = read(&folder.join("index.json"));
    assert_eq!(index["spec_version"], acemq_spec_version());
    let (mut passed, mut failed) = (0_u64, 0_u64);
    for listed in index["suites"].as_array().unwrap() {
        let suite = read(&folder.join(listed["file"].as_str().unwrap()));
        for case in suite["cases"].as_array().unwrap() {
            match check(suite["operation"].as_str().unwrap(), case) {
                Ok(()) => passed += 1,
                Err(why) => {
                    failed += 1;
                    println!("{} ({}): {why}", case["id"], case["description"]);
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if let Some(results) = std::env::var_os("ACEMQ_RESULTS").filter(|folder| !folder.is_empty()) {
        let line = format!("c\t{}\t{}\t{failed}\n", passed + failed, index["cases"]);
        // The folder is there when the table of all languages is wanted.
        let _ = std::fs::write(Path::new(&results).join("c.tsv"), line);
    }
    assert_eq!((passed, failed), (index["cases"].as_u64().unwrap(), 0));
}

fn check(operation: &str, case: &Json) -> Result<(), String> {
    let output = run(operation, &case["input"]);
    match (case.get("error"), output) {
        (None, Ok(output)) => matches(&case["expect"], &output),
        (None, Err(detail)) => Err(format!("failed: {detail}")),
        (Some(wanted), Ok(output)) => Err(format!("gave {output} instead of {wanted}")),
        (Some(wanted), Err(detail)) => {
            for key in ["code", "fields"].into_iter().filter(|key| wanted.get(key).is_some()) {
                matches(&wanted[key], &detail[key])?;
            }
            let Some(wanted) = wanted.get("problems").and_then(Json::as_array) else { return Ok(()) };
            let mut open = detail["problems"].as_array().unwrap().clone();
            for problem in wanted {
                let found = open.iter().position(|candidate| matches(problem, candidate).is_ok());
                open.remove(found.ok_or_else(|| format!("{problem} is not among {open:?}"))?);
            }
            if open.is_empty() { Ok(()) } else { Err(format!("more problems: {open:?}")) }
        }
    }
}

/// Further keys are fine, lists are equal, numbers are compared by value.
fn matches(wanted: &Json, got: &Json) -> Result<(), String> {
    let same = match (wanted, got) {
        (Json::Object(wanted), Json::Object(got)) => {
            for (key, value) in wanted {
                matches(value, got.get(key).unwrap_or(&Json::Null)).map_err(|why| format!("{key}: {why}"))?;
            }
            true
        }
        (Json::Array(wanted), Json::Array(got)) => {
            for (wanted, got) in wanted.iter().zip(got) {
                matches(wanted, got)?;
            }
            wanted.len() == got.len()
        }
        (Json::Number(a), Json::Number(b)) => a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64(),
        _ => wanted == got,
    };
    if same { Ok(()) } else { Err(format!("{got} instead of {wanted}")) }
}

type Output = Result<Json, Json>;

/// Runs an operation by the entry that is made for it.
fn run(operation: &str, input: &Json) -> Output {
    let whole = |key: &str| input[key].as_u64();
    let queue = input["queue"].as_str();
    match (operation, queue, whole("delay_ms")) {
        ("name.retry_queue", Some(queue), Some(delay_ms)) => {
            named("name", |out, error| unsafe { acemq_retry_queue(queue.as_ptr(), queue.len(), delay_ms, out, error) })
        }
        ("name.delay", _, Some(delay_ms)) => {
            named("text", |out, error| unsafe { acemq_delay_text(delay_ms, out, error) })
        }
        ("duration.parse", ..) if input["text"].is_string() => {
            let duration = input["text"].as_str().unwrap();
            let (mut ms, mut error) = (0, null_mut());
            let status =
                unsafe { acemq_parse_duration(duration.as_ptr(), duration.len(), &raw mut ms, &raw mut error) };
            if status == ACEMQ_OK { Ok(json!({"ms": ms})) } else { Err(detail(error)) }
        }
        ("topic.match", ..) => {
            let (pattern, key) = (input["pattern"].as_str().unwrap(), input["key"].as_str().unwrap());
            let status =
                unsafe { acemq_topic_matches(pattern.as_ptr(), pattern.len(), key.as_ptr(), key.len(), null_mut()) };
            Ok(json!({"matches": status == ACEMQ_YES}))
        }
        ("embedded.run", ..) => embedded(input),
        _ => document(|out, error| {
            let input = input.to_string();
            unsafe { acemq_call(operation.as_ptr(), operation.len(), input.as_ptr(), input.len(), out, error) }
        }),
    }
}

fn text(call: impl FnOnce(*mut AcemqBuffer, *mut *mut AcemqError) -> i32) -> Result<String, Json> {
    let mut buffer = AcemqBuffer { ptr: null_mut(), len: 0, capacity: 0 };
    let mut error = null_mut();
    if call(&raw mut buffer, &raw mut error) != ACEMQ_OK {
        return Err(detail(error));
    }
    let bytes = unsafe { std::slice::from_raw_parts(buffer.ptr, buffer.len) }.to_vec();
    unsafe { acemq_buffer_free(&raw mut buffer) };
    Ok(String::from_utf8(bytes).unwrap())
}

fn named(key: &str, call: impl FnOnce(*mut AcemqBuffer, *mut *mut AcemqError) -> i32) -> Output {
    text(call).map(|text| json!({key: text}))
}

fn document(call: impl FnOnce(*mut AcemqBuffer, *mut *mut AcemqError) -> i32) -> Output {
    text(call).map(|text| serde_json::from_str(&text).unwrap())
}

fn detail(error: *mut AcemqError) -> Json {
    let AcemqBytes { ptr, len } = unsafe { acemq_error_detail(error) };
    let detail = serde_json::from_slice(unsafe { std::slice::from_raw_parts(ptr, len) }).unwrap();
    unsafe { acemq_error_free(error) };
    detail
}

fn embedded(input: &Json) -> Output {
    let settings = input["broker"].to_string();
    let (mut broker, mut error) = (null_mut(), null_mut());
    if unsafe { acemq_broker_new(settings.as_ptr(), settings.len(), &raw mut broker, &raw mut error) } != ACEMQ_OK {
        return Err(detail(error));
    }
    let replies = input["commands"].as_array().unwrap().iter().map(|command| {
        let command = command.to_string();
        document(|out, error| unsafe { acemq_broker_call(broker, command.as_ptr(), command.len(), out, error) })
    });
    let replies = replies.collect::<Result<Vec<_>, _>>().map(|replies| json!({"replies": replies}));
    unsafe { acemq_broker_free(broker) };
    replies
}

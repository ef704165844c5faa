//! Topic patterns: one, one compiled, many compiled.

use crate::error::{ACEMQ_NO, ACEMQ_YES, AcemqError, Fault};
use crate::guard::{DONE, guard};
use crate::memory::{free, handle, handle_out, out, slice, slice_mut};
use acemq_core::topic::{self, Keys, Scratch, TopicMatcher, TopicPattern};
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

const fn answer(yes: bool) -> Result<i32, Fault> {
    Ok(if yes { ACEMQ_YES } else { ACEMQ_NO })
}

/// Whether a topic pattern matches a routing key: ACEMQ_YES or ACEMQ_NO. Both are any bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_topic_matches(
    pattern: *const u8,
    pattern_len: usize,
    key: *const u8,
    key_len: usize,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry =
        || unsafe { answer(topic::matches(slice(pattern, pattern_len, "pattern")?, slice(key, key_len, "key")?)) };
    unsafe { guard(error, entry) }
}

/// A compiled topic pattern. It never changes.
#[derive(Debug)]
pub struct AcemqPattern(TopicPattern);

/// Compiles a pattern; every pattern is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_pattern_new(
    pattern: *const u8,
    pattern_len: usize,
    compiled: *mut *mut AcemqPattern,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let compiled = handle_out(compiled, "compiled")?;
        compiled.put(AcemqPattern(TopicPattern::new(slice(pattern, pattern_len, "pattern")?)));
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Whether the pattern matches a routing key: ACEMQ_YES or ACEMQ_NO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_pattern_matches(
    pattern: *const AcemqPattern,
    key: *const u8,
    key_len: usize,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe { answer(handle(pattern, "pattern")?.0.matches(slice(key, key_len, "key")?)) };
    unsafe { guard(error, entry) }
}

/// Whether the pattern matches each of `count` keys, which lie end to end: key i is the bytes from offsets[i] up to
/// offsets[i + 1], so there are count + 1 offsets. Sets results[i] to 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_pattern_matches_batch(
    pattern: *const AcemqPattern,
    keys: *const u8,
    keys_len: usize,
    offsets: *const u32,
    count: usize,
    results: *mut u8,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let pattern = &handle(pattern, "pattern")?.0;
        let keys = batch(keys, keys_len, offsets, count)?;
        for (result, key) in slice_mut(results, count, "results")?.iter_mut().zip(keys) {
            result.write(pattern.matches(key).into());
        }
        DONE
    };
    unsafe { guard(error, entry) }
}

unsafe fn batch<'a>(keys: *const u8, keys_len: usize, offsets: *const u32, count: usize) -> Result<Keys<'a>, Fault> {
    unsafe {
        let keys = slice(keys, keys_len, "keys")?;
        let offsets = if count == 0 { &[] } else { slice(offsets, count.saturating_add(1), "offsets")? };
        Keys::new(keys, offsets).map_err(|error| Fault::bad_argument("offsets", error.to_string()))
    }
}

/// Frees a pattern; null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_pattern_free(pattern: *mut AcemqPattern) {
    unsafe { free(pattern) }
}

/// Many bindings, compiled: finds those that a routing key fits, whatever their number. A binding is a pattern and a number
/// of the caller's, often an index into an array of queues. It can change, and locks inside.
#[derive(Debug)]
pub struct AcemqMatcher {
    bindings: RwLock<TopicMatcher<u64>>,
    // A search without its buffers would allocate three times. Whoever finds the pool taken makes new ones.
    pool: Mutex<Vec<Search>>,
}

#[derive(Debug, Default)]
struct Search {
    scratch: Scratch,
    found: Vec<u64>,
}

impl AcemqMatcher {
    fn read(&self) -> Result<RwLockReadGuard<'_, TopicMatcher<u64>>, Fault> {
        self.bindings.read().map_err(|_| Fault::internal(BROKEN))
    }

    fn write(&self) -> Result<RwLockWriteGuard<'_, TopicMatcher<u64>>, Fault> {
        self.bindings.write().map_err(|_| Fault::internal(BROKEN))
    }

    fn search(&self) -> Search {
        self.pool.try_lock().ok().and_then(|mut pool| pool.pop()).unwrap_or_default()
    }

    fn keep(&self, search: Search) {
        const MOST: usize = 16;
        if let Ok(mut pool) = self.pool.try_lock()
            && pool.len() < MOST
        {
            pool.push(search);
        }
    }
}

const BROKEN: &str = "an earlier call failed while it changed this matcher";

/// A matcher without bindings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_matcher_new(matcher: *mut *mut AcemqMatcher, error: *mut *mut AcemqError) -> i32 {
    let entry = || {
        let matcher = unsafe { handle_out(matcher, "matcher") }?;
        matcher.put(AcemqMatcher { bindings: RwLock::new(TopicMatcher::new()), pool: Mutex::default() });
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Binds `value` under `pattern`: ACEMQ_NO when it already was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_matcher_insert(
    matcher: *const AcemqMatcher,
    pattern: *const u8,
    pattern_len: usize,
    value: u64,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let pattern = slice(pattern, pattern_len, "pattern")?;
        answer(handle(matcher, "matcher")?.write()?.insert(pattern, value))
    };
    unsafe { guard(error, entry) }
}

/// Takes the binding of `value` under `pattern` out: ACEMQ_NO when there was none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_matcher_remove(
    matcher: *const AcemqMatcher,
    pattern: *const u8,
    pattern_len: usize,
    value: u64,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let pattern = slice(pattern, pattern_len, "pattern")?;
        answer(handle(matcher, "matcher")?.write()?.remove(pattern, &value))
    };
    unsafe { guard(error, entry) }
}

/// The number of bindings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_matcher_count(
    matcher: *const AcemqMatcher,
    count: *mut usize,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let count = out(count, "count")?;
        count.put(handle(matcher, "matcher")?.read()?.len());
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The values whose patterns match `key`: ascending, each once. Writes at most `capacity` of them into the caller's `values`
/// and their whole number into `found`; when that is more than `capacity`, ask again with as much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_matcher_matches(
    matcher: *const AcemqMatcher,
    key: *const u8,
    key_len: usize,
    values: *mut u64,
    capacity: usize,
    found: *mut usize,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let count = out(found, "found")?;
        let values = slice_mut(values, capacity, "values")?;
        let key = slice(key, key_len, "key")?;
        let matcher = handle(matcher, "matcher")?;
        let mut search = matcher.search();
        let Search { scratch, found } = &mut search;
        found.clear();
        matcher.read()?.for_each_match(key, scratch, |value| found.push(*value));
        found.sort_unstable();
        found.dedup();
        fill(values, found);
        count.put(found.len());
        matcher.keep(search);
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The same for `count` keys, which lie end to end as in acemq_pattern_matches_batch. The values of key i stand in `values`
/// from ends[i - 1] (0 for the first) up to ends[i]. Writes at most `capacity` values, all `ends`, and the whole number of
/// values into `found`; when that is more than `capacity`, ask again with as much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_matcher_matches_batch(
    matcher: *const AcemqMatcher,
    keys: *const u8,
    keys_len: usize,
    offsets: *const u32,
    count: usize,
    values: *mut u64,
    capacity: usize,
    ends: *mut u64,
    found: *mut usize,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let found = out(found, "found")?;
        let ends = slice_mut(ends, count, "ends")?;
        let values = slice_mut(values, capacity, "values")?;
        let keys = batch(keys, keys_len, offsets, count)?;
        let matches = handle(matcher, "matcher")?.read()?.matches_all(keys);
        for (key, end) in ends.iter_mut().enumerate() {
            end.write(u64::try_from(matches.range(key).end).unwrap_or(u64::MAX));
        }
        fill(values, matches.values());
        found.put(matches.values().len());
        DONE
    };
    unsafe { guard(error, entry) }
}

fn fill(places: &mut [std::mem::MaybeUninit<u64>], values: &[u64]) {
    for (place, value) in places.iter_mut().zip(values) {
        place.write(*value);
    }
}

/// Frees a matcher; null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_matcher_free(matcher: *mut AcemqMatcher) {
    unsafe { free(matcher) }
}

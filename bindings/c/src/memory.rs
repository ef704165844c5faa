//! Raw pointers: the only place where they are read, written, or turned into something owned.

use crate::error::Fault;

/// Bytes that belong to the library and live as long as the handle that they were asked of.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AcemqBytes {
    /// The first byte; never null.
    pub ptr: *const u8,
    /// How many bytes.
    pub len: usize,
}

impl AcemqBytes {
    pub(crate) const fn of(bytes: &[u8]) -> Self {
        Self { ptr: bytes.as_ptr(), len: bytes.len() }
    }
}

/// Bytes that belong to the caller, to be freed with acemq_buffer_free.
#[repr(C)]
#[derive(Debug)]
pub struct AcemqBuffer {
    /// The first byte; null in an empty buffer.
    pub ptr: *mut u8,
    /// How many bytes.
    pub len: usize,
    /// The library's own.
    pub capacity: usize,
}

impl AcemqBuffer {
    const EMPTY: Self = Self { ptr: std::ptr::null_mut(), len: 0, capacity: 0 };

    fn new(text: String) -> Self {
        if text.is_empty() {
            return Self::EMPTY;
        }
        let mut bytes = std::mem::ManuallyDrop::new(text.into_bytes());
        Self { ptr: bytes.as_mut_ptr(), len: bytes.len(), capacity: bytes.capacity() }
    }
}

/// Frees what a buffer holds and empties it; an empty one, or null, is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_buffer_free(buffer: *mut AcemqBuffer) {
    if buffer.is_null() {
        return;
    }
    unsafe {
        let AcemqBuffer { ptr, len, capacity } = buffer.replace(AcemqBuffer::EMPTY);
        if !ptr.is_null() {
            drop(Vec::from_raw_parts(ptr, len, capacity));
        }
    }
}

/// An array of the caller's: `name` is what an error calls it.
pub(crate) unsafe fn slice<'a, T>(ptr: *const T, len: usize, name: &'static str) -> Result<&'a [T], Fault> {
    check_array::<T>(ptr, len, name)?;
    Ok(if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(ptr, len) } })
}

/// An array of the caller's that is written to, whatever it holds before.
pub(crate) unsafe fn slice_mut<'a, T>(
    ptr: *mut T,
    len: usize,
    name: &'static str,
) -> Result<&'a mut [std::mem::MaybeUninit<T>], Fault> {
    check_array::<T>(ptr, len, name)?;
    Ok(if len == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(ptr.cast(), len) } })
}

fn check_array<T>(ptr: *const T, len: usize, name: &'static str) -> Result<(), Fault> {
    let most = usize::try_from(isize::MAX).unwrap_or(usize::MAX) / size_of::<T>();
    if len > most {
        return Err(Fault::bad_argument(name, format!("{name} has an impossible length, {len}")));
    }
    if len > 0 && ptr.is_null() {
        return Err(Fault::bad_argument(name, format!("{name} is null but its length is {len}")));
    }
    if !ptr.is_aligned() {
        return Err(Fault::bad_argument(name, format!("{name} is not aligned for items of {} bytes", size_of::<T>())));
    }
    Ok(())
}

/// A text of the caller's.
pub(crate) unsafe fn text<'a>(ptr: *const u8, len: usize, name: &'static str) -> Result<&'a str, Fault> {
    let bytes = unsafe { slice(ptr, len, name) }?;
    std::str::from_utf8(bytes).map_err(|error| Fault::invalid_utf8(name, error.valid_up_to()))
}

/// A handle that the caller holds.
pub(crate) unsafe fn handle<'a, T>(ptr: *const T, name: &'static str) -> Result<&'a T, Fault> {
    unsafe { ptr.as_ref() }.ok_or_else(|| Fault::bad_argument(name, format!("{name} is null")))
}

/// Takes a handle back and drops it.
pub(crate) unsafe fn free<T>(ptr: *mut T) {
    if !ptr.is_null() {
        drop(unsafe { Box::from_raw(ptr) });
    }
}

/// Where a result goes: it holds something empty until the result is there.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    unsafe fn new(ptr: *mut T, name: &'static str, empty: T) -> Result<Self, Fault> {
        if ptr.is_null() || !ptr.is_aligned() {
            return Err(Fault::bad_argument(name, format!("{name} is null, so there is no place for the result")));
        }
        unsafe { ptr.write(empty) };
        Ok(Self(ptr))
    }

    /// Writes the result.
    pub(crate) fn put(self, value: T) {
        // `new` has written to the same place.
        unsafe { self.0.write(value) };
    }
}

/// Where a number or a plain structure goes.
pub(crate) unsafe fn out<T: Default>(ptr: *mut T, name: &'static str) -> Result<Out<T>, Fault> {
    unsafe { Out::new(ptr, name, T::default()) }
}

/// Where a text goes.
pub(crate) struct TextOut(Out<AcemqBuffer>);

impl TextOut {
    /// Writes the text.
    pub(crate) fn put(self, text: String) {
        self.0.put(AcemqBuffer::new(text));
    }
}

/// Where a text goes.
pub(crate) unsafe fn text_out(ptr: *mut AcemqBuffer, name: &'static str) -> Result<TextOut, Fault> {
    unsafe { Out::new(ptr, name, AcemqBuffer::EMPTY) }.map(TextOut)
}

/// Where a new handle goes.
pub(crate) struct HandleOut<T>(Out<*mut T>);

impl<T: Send + Sync> HandleOut<T> {
    /// Gives the handle to the caller.
    pub(crate) fn put(self, value: T) {
        self.0.put(Box::into_raw(Box::new(value)));
    }
}

/// Where a new handle goes.
pub(crate) unsafe fn handle_out<T>(ptr: *mut *mut T, name: &'static str) -> Result<HandleOut<T>, Fault> {
    unsafe { Out::new(ptr, name, std::ptr::null_mut()) }.map(HandleOut)
}

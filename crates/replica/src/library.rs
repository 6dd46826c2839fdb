//! Loading a library, and calling it.

use crate::abi::{Api, VERSION};
use crate::machine::Boards;
use crate::{ReplicaError, host};
use std::ffi::{CStr, CString};
use std::path::Path;

/// When a machine boots, in ns: not 0, which the kernel takes for never in places.
const BOOT_NS: u64 = 1_000_000;
/// Room for what a file of debugfs shows.
const SHOWN: usize = 64 << 10;

/// A library that is loaded for as long as the process lives.
pub(crate) struct Library {
    api: &'static Api,
}

/// A kernel that has booted.
pub(crate) struct Running {
    api: &'static Api,
}

impl Library {
    /// Loads `file`.
    ///
    /// # Errors
    /// What the loader says, and a library of another version of the interface.
    pub(crate) fn open(file: &Path) -> Result<Library, ReplicaError> {
        let wrong = |reason: String| ReplicaError::Library { file: file.to_owned(), reason };
        // SAFETY: the library runs no code when it is loaded, and is never unloaded, so `sc_api` lives as long as the process.
        // The version that it begins with says that it is laid out as `Api`.
        let api: &'static Api = unsafe {
            let library = libloading::Library::new(file).map_err(|e| wrong(e.to_string()))?;
            let api = library.get::<*const Api>(b"sc_api\0").map_err(|e| wrong(e.to_string()))?;
            let api = api.into_raw().into_raw().cast::<Api>();
            std::mem::forget(library);
            if api.is_null() {
                return Err(wrong("found no sc_api, expected one".to_string()));
            }
            &*api
        };
        if api.version != VERSION {
            let found = api.version;
            return Err(wrong(format!(
                "found version {found} of the interface, expected {VERSION}; build it again"
            )));
        }
        Ok(Library { api })
    }

    /// Boots on the machine of `boards`, which the kernel looks at for as long as it runs.
    pub(crate) fn boot(&self, boards: &Boards) -> Running {
        (self.api.set_now)(BOOT_NS);
        (self.api.boot)(&host::HOST, boards.machine(), 1);
        Running { api: self.api }
    }
}

impl Running {
    /// The kernel's release.
    pub(crate) fn release(&self) -> String {
        // SAFETY: a constant text of the library.
        unsafe { CStr::from_ptr(self.api.release) }.to_string_lossy().into_owned()
    }

    /// Takes a CPU offline or brings it online.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn set_online(&self, cpu: u32, online: bool) -> Result<(), ReplicaError> {
        let what = || format!("CPU {cpu} {}", if online { "online" } else { "offline" });
        checked((self.api.online)(cpu, online.into()), what).map(|_| ())
    }

    /// Writes to a file of debugfs.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn write_debugfs(&self, path: &str, value: &str) -> Result<(), ReplicaError> {
        let (file, text) = (c_text(path), c_text(value));
        checked((self.api.debugfs_write)(file.as_ptr(), text.as_ptr()), || {
            format!("{path}: {value}")
        })
        .map(|_| ())
    }

    /// What a file of debugfs shows.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn read_debugfs(&self, path: &str) -> Result<String, ReplicaError> {
        let file = c_text(path);
        let mut shown = vec![0u8; SHOWN];
        let answer =
            (self.api.debugfs_read)(file.as_ptr(), shown.as_mut_ptr().cast(), SHOWN as u64);
        let length = checked(answer, || path.to_string())?;
        shown.truncate(length as usize);
        Ok(String::from_utf8_lossy(&shown).into_owned())
    }
}

fn checked(answer: i64, what: impl Fn() -> String) -> Result<i64, ReplicaError> {
    if answer < 0 {
        Err(ReplicaError::Refused { what: what(), number: answer })
    } else {
        Ok(answer)
    }
}

/// Up to the first zero, which no path and no value has.
fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or("")).unwrap_or_default()
}

//! Copies of this process: each run has one, with a kernel that has just booted, and what goes wrong in it ends there.

use crate::ReplicaError;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Exit code of a copy whose answer could not be written.
const UNHEARD: i32 = 4;

fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors, which are ours when the call succeeds.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// What `work` gives, done by a copy of this process, which must have one thread.
///
/// # Errors
/// A copy that cannot be made, and one that dies: [`ReplicaError::Stopped`] with what it said last.
pub fn forked(work: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, ReplicaError> {
    let (answers, answer) = pipe()?;
    let (sayings, said) = pipe()?;
    // SAFETY: with one thread, the copy is whole.
    let child = unsafe { libc::fork() };
    match child {
        -1 => return Err(std::io::Error::last_os_error().into()),
        0 => {
            // SAFETY: both descriptors are open; the second is the copy's stderr from now on.
            unsafe { libc::dup2(said.as_raw_fd(), 2) };
            crate::fault::watch();
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            let code = match done {
                Ok(bytes) if File::from(answer).write_all(&bytes).is_ok() => 0,
                Ok(_) => UNHEARD,
                Err(_) => crate::STOPPED,
            };
            // SAFETY: ends the copy at once; what this process would do at its end is not the copy's to do.
            unsafe { libc::_exit(code) }
        }
        _ => {}
    }
    drop((answer, said));
    let (mut bytes, mut last) = (Vec::new(), Vec::new());
    File::from(answers).read_to_end(&mut bytes)?;
    File::from(sayings).read_to_end(&mut last)?;
    let mut status = 0;
    // SAFETY: `child` is ours and is waited for once.
    if unsafe { libc::waitpid(child, &mut status, 0) } != child {
        return Err(std::io::Error::last_os_error().into());
    }
    if status == 0 {
        return Ok(bytes);
    }
    Err(ReplicaError::Stopped(crate::last_words(&last, ExitStatus::from_raw(status))))
}

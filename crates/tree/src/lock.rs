//! One process at a time changes a tree's directory.
//!
//! A lock is a file beside the trees that the operating system locks, so one that a killed process held is free again.

use crate::TreeError;
use std::fs::{File, TryLockError};
use std::path::Path;

/// Below the directory of all trees; no tree's name begins with a dot.
const FOLDER: &str = ".locks";

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// The lock of what is called `name` in `dir`. Waits if another process has it, and tells `say` so.
    ///
    /// # Errors
    /// A file that cannot be made or locked.
    pub(crate) fn take(dir: &Path, name: &str, say: &dyn Fn(&str)) -> Result<Lock, TreeError> {
        let folder = dir.join(FOLDER);
        std::fs::create_dir_all(&folder).map_err(TreeError::io(&folder))?;
        let path = folder.join(name);
        let file = File::create(&path).map_err(TreeError::io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                say("waiting for another process that builds this tree");
                file.lock().map_err(TreeError::io(&path))?;
            }
            Err(TryLockError::Error(error)) => return Err(TreeError::io(&path)(error)),
        }
        Ok(Lock { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn only_one_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, waited) = (AtomicU32::new(0), AtomicU32::new(0));
        let first = Lock::take(dir.path(), "mine", &|_| {}).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let say = |_: &str| {
                        waited.fetch_add(1, Ordering::SeqCst);
                    };
                    let _lock = Lock::take(dir.path(), "mine", &say).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
            while waited.load(Ordering::SeqCst) < 4 {
                std::thread::yield_now();
            }
            drop(first);
        });
        Lock::take(dir.path(), "other", &|_| panic!("nobody has it")).unwrap();
    }
}

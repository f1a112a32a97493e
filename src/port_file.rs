//! The port file: where a process that took any free port says which one it got.
//!
//! A test suite starts the simulator on port 0 and waits for the file. It therefore appears whole, once requests
//! are answered, and never names the port of a process that is gone: one that was left behind is removed before
//! anything else is done, and so is our own at the end.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
    process,
};

/// A port file to be. Dropped, it takes away what it wrote.
#[derive(Debug)]
pub struct PortFile {
    path: PathBuf,
    /// Beside it, so that renaming stays within one file system.
    draft: PathBuf,
    written: Option<u16>,
}

/// The port file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the port file {}: {reason}", path.display())]
pub struct PortFileError {
    path: PathBuf,
    reason: io::Error,
}

impl PortFile {
    /// Finds out whether it can be written, and removes one that was left behind.
    pub fn prepare(path: &Path) -> Result<Self, PortFileError> {
        let failed = |reason| PortFileError {
            path: path.to_owned(),
            reason,
        };
        let name = path
            .file_name()
            .ok_or_else(|| failed(ErrorKind::IsADirectory.into()))?;
        let mut draft = name.to_owned();
        draft.push(format!(".{}.tmp", process::id()));
        let draft = path.with_file_name(draft);
        File::create(&draft).map_err(failed)?;
        let prepared = Self {
            path: path.to_owned(),
            draft,
            written: None,
        };
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(prepared),
        }
    }

    /// Writes the port, as digits and nothing else.
    pub fn write(&mut self, port: u16) -> Result<(), PortFileError> {
        self.write_and_rename(port)
            .map_err(|reason| PortFileError {
                path: self.path.clone(),
                reason,
            })?;
        self.written = Some(port);
        Ok(())
    }

    fn write_and_rename(&self, port: u16) -> io::Result<()> {
        let mut draft = File::create(&self.draft)?;
        draft.write_all(port.to_string().as_bytes())?;
        draft.sync_all()?;
        fs::rename(&self.draft, &self.path)
    }
}

impl Drop for PortFile {
    fn drop(&mut self) {
        let Some(port) = self.written else {
            let _ = fs::remove_file(&self.draft);
            return;
        };
        // Somebody else may have taken the name in the meantime.
        let is_ours = fs::read_to_string(&self.path).is_ok_and(|text| text == port.to_string());
        if is_ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

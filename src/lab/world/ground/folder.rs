//! A folder with the SQLite database of one world after the other in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use uuid::Uuid;

use super::prepare;
use crate::lab::flow::Failed;

/// The folder.
pub(super) struct Folder {
    path: PathBuf,
    /// Each has a name of its own: whoever was killed may not have closed its database yet, and closing it deletes the files
    /// beside it, whose names would be those of the next.
    worlds: AtomicUsize,
    /// The database as it is at first.
    template: Vec<u8>,
}

impl Folder {
    pub(super) async fn make() -> Result<Self, Failed> {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let path = parent.join(format!("boring-checkout-{}", Uuid::new_v4()));
        fs::create_dir(&path)?;
        let mut folder = Self {
            path,
            worlds: AtomicUsize::new(0),
            template: Vec::new(),
        };
        let file = folder.path.join("template.db");
        prepare(&url_of(&file)).await?;
        folder.template = fs::read(file)?;
        Ok(folder)
    }

    pub(super) fn clear(&self) -> Result<String, Failed> {
        let number = self.worlds.fetch_add(1, Ordering::Relaxed);
        if let Some(before) = number.checked_sub(1) {
            for beside in ["", "-wal", "-shm"] {
                let file = format!("shop-{before}.db{beside}");
                match fs::remove_file(self.path.join(file)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(error.into());
                    }
                    _ => {}
                }
            }
        }
        let file = self.path.join(format!("shop-{number}.db"));
        fs::write(&file, &self.template)?;
        Ok(url_of(&file))
    }
}

fn url_of(file: &Path) -> String {
    format!("sqlite://{}", file.display())
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(%error, folder = %self.path.display(), "the scratch database is left behind");
        }
    }
}

//! The mailbox: the mails in the folder, read back to be looked at in the lab.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use chrono::{DateTime, Utc};
use mail_parser::MessageParser;

/// Older mails than so many are in the folder and not in the list.
pub const SHOWN: usize = 100;

/// The folder in which the shop's mails are.
#[derive(Clone, Debug)]
pub struct Mailbox {
    folder: PathBuf,
}

/// A mail, as its receiver would read it.
#[derive(Clone, Debug, Default)]
pub struct Letter {
    /// The file's, without its ending.
    pub name: String,
    /// Whom it is from.
    pub from: String,
    /// Whom it goes to.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// What tells two copies of it from two mails.
    pub message_id: String,
    /// When it was written.
    pub date: Option<DateTime<Utc>>,
    /// What it says, as plain text.
    pub text: String,
    /// The same as HTML.
    pub html: String,
}

impl Mailbox {
    /// The mails in `folder`, which need not be there yet.
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The last mails that came, [`SHOWN`] at most, the newest first.
    pub async fn newest(&self) -> io::Result<Vec<Letter>> {
        let folder = self.folder.clone();
        aside(move || {
            let names = newest(&folder)?;
            Ok(names
                .iter()
                .filter_map(|name| read(&folder, name))
                .collect())
        })
        .await
    }

    /// The mail of this name, if there is one.
    pub async fn letter(&self, name: &str) -> io::Result<Option<Letter>> {
        // A name from outside stays within the folder.
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(is_name) {
            return Ok(None);
        }
        let (folder, name) = (self.folder.clone(), name.to_owned());
        aside(move || Ok(read(&folder, &name))).await
    }
}

async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

fn newest(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<(SystemTime, String)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            // A draft begins with a dot.
            let name = name
                .strip_suffix(".eml")
                .filter(|it| !it.starts_with('.'))?;
            Some((entry.metadata().ok()?.modified().ok()?, name.to_owned()))
        })
        .collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    names.truncate(SHOWN);
    Ok(names.into_iter().map(|(_, name)| name).collect())
}

/// `None` when there is none, or when it is no mail.
fn read(folder: &Path, name: &str) -> Option<Letter> {
    let raw = fs::read(folder.join(format!("{name}.eml"))).ok()?;
    let mail = MessageParser::default().parse(&raw)?;
    let address = |list: Option<&mail_parser::Address<'_>>| {
        let first = list.and_then(mail_parser::Address::first);
        first
            .and_then(|it| it.address())
            .unwrap_or_default()
            .to_owned()
    };
    Some(Letter {
        name: name.to_owned(),
        from: address(mail.from()),
        to: address(mail.to()),
        subject: mail.subject().unwrap_or_default().to_owned(),
        message_id: mail.message_id().unwrap_or_default().to_owned(),
        date: mail
            .date()
            .and_then(|date| DateTime::from_timestamp(date.to_timestamp(), 0)),
        text: mail.body_text(0).unwrap_or_default().into_owned(),
        html: mail.body_html(0).unwrap_or_default().into_owned(),
    })
}

//! Where mails go: into a folder, to be looked at, to a mail server, or into memory, to be counted.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};

use crate::{probe::Failure, secret::Secret};

/// How long the mail server may take over each step. Those who sent the mail wait for the whole of it a little longer.
const STEP: Duration = Duration::from_secs(30);

/// Where mails go.
#[derive(Debug)]
pub enum Post {
    /// A file for each: the mail of the same name overwrites it.
    Folder(PathBuf),
    /// A connection for each.
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    /// Kept in memory, each copy, for whoever counts them.
    Tray(Tray),
}

/// Mails that were posted, in the order in which they came; cheap to clone, and clones share them.
#[derive(Clone, Debug, Default)]
pub struct Tray(Arc<Mutex<Vec<Posted>>>);

/// A mail in the tray.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// What it was called.
    pub name: String,
    /// By which its receiver tells two copies from two mails.
    pub message_id: String,
}

impl Tray {
    /// All of them.
    pub fn mails(&self) -> Vec<Posted> {
        self.lock().clone()
    }

    /// Puts a mail on top.
    pub fn put(&self, name: &str, message_id: &str) {
        self.lock().push(Posted {
            name: name.to_owned(),
            message_id: message_id.to_owned(),
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Posted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Post {
    /// The mail server at `smtp://…` or `smtps://…`. `smtps` speaks TLS from the first byte; `?tls=required` upgrades to it.
    pub fn smtp(url: &Secret) -> Result<Self, UnusableSmtpUrl> {
        let server = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose())
            .map_err(|_| UnusableSmtpUrl)?;
        Ok(Self::Smtp(server.timeout(Some(STEP)).build()))
    }

    /// Sends `message`, which is called `name` where that matters.
    pub async fn send(&self, name: &str, message: Message) -> Result<(), SendError> {
        match self {
            Self::Folder(folder) => {
                let (folder, name) = (folder.clone(), name.to_owned());
                let write = move || write(&folder, &name, &message.formatted());
                tokio::task::spawn_blocking(write)
                    .await
                    .map_err(|_| SendError::Later("writing it panicked".to_owned()))?
                    .map_err(|error| SendError::Later(error.to_string()))
            }
            Self::Smtp(server) => match server.send(message).await {
                Ok(_) => Ok(()),
                Err(error) if is_refusal(&error) => Err(SendError::Refused(error.to_string())),
                Err(error) if error.is_timeout() => Err(SendError::Unanswered),
                Err(error) => Err(SendError::Later(error.to_string())),
            },
            Self::Tray(tray) => {
                let id = message.headers().get_raw("Message-ID");
                tray.put(name, id.unwrap_or_default());
                Ok(())
            }
        }
    }
}

/// Whether the server has definitely said no to the mail, for whom it is to: 550 to 553. Any other no, be it about us, our
/// password or our network, is mended one day. <https://www.rfc-editor.org/rfc/rfc5321#section-4.2.3>
fn is_refusal(error: &lettre::transport::smtp::Error) -> bool {
    error
        .status()
        .is_some_and(|it| (550..=553).contains(&u16::from(it)))
}

/// Whoever reads the folder sees the whole file or none.
fn write(folder: &Path, name: &str, message: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let draft = folder.join(format!(".{name}.draft"));
    let mut file = File::create(&draft)?;
    file.write_all(message)?;
    file.sync_all()?;
    fs::rename(&draft, folder.join(format!("{name}.eml")))
}

/// Why a mail was not sent, as far as we know.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// It may go another time.
    #[error("{0}")]
    Later(String),
    /// No answer came in time. The server may have taken it all the same, and each time anew.
    #[error("no answer in time")]
    Unanswered,
    /// The server said no.
    #[error("refused: {0}")]
    Refused(String),
}

impl From<Failure> for SendError {
    fn from(_: Failure) -> Self {
        Self::Later("the connection broke".to_owned())
    }
}

/// The URL does not name a mail server.
#[derive(Debug, thiserror::Error)]
#[error("not an smtp:// or smtps:// URL")]
pub struct UnusableSmtpUrl;

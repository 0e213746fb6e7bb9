//! Standard error for logs, written by a thread of its own: whoever does not read it holds up nothing but the logs.

use std::{
    io::{self, Write},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::Duration,
};

/// Lines that may wait to be written; others are left out.
const WAITING: usize = 4096;
/// How long the last lines are waited for.
const LAST: Duration = Duration::from_secs(1);

/// Where lines of a log are sent. Clones write to the same thread.
#[derive(Clone)]
pub struct LogWriter(SyncSender<Vec<u8>>);

/// Knows when all lines that were sent before have been written.
pub struct LogEnd {
    writer: LogWriter,
    written: Receiver<()>,
}

impl LogWriter {
    /// Starts the thread.
    ///
    /// # Errors
    /// What the system answers.
    pub fn start() -> io::Result<(LogWriter, LogEnd)> {
        let (sender, lines) = sync_channel::<Vec<u8>>(WAITING);
        let (done, written) = sync_channel(1);
        thread::Builder::new().name("zar-log".into()).spawn(move || {
            // An empty line is the last.
            for line in lines.iter().take_while(|line| !line.is_empty()) {
                // There is nobody to tell that the logs cannot be written.
                let _ = io::stderr().write_all(&line);
            }
            let _ = done.send(());
        })?;
        let writer = LogWriter(sender);
        Ok((writer.clone(), LogEnd { writer, written }))
    }
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A full queue leaves the line out.
        let _ = self.0.try_send(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogEnd {
    fn drop(&mut self) {
        if self.writer.0.try_send(Vec::new()).is_ok() {
            // Whoever does not read the logs misses the end.
            let _ = self.written.recv_timeout(LAST);
        }
    }
}

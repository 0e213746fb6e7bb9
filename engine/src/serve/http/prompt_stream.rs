//! A connection whose other side has to read what it is sent.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

/// How long the other side may take to make room for [`STEP`] bytes, or for whatever is left to send.
const READ_TIME: Duration = Duration::from_secs(30);
/// Bytes that are to be read in that time, so that a client who reads one now and then does not hold a place for ever.
const STEP: usize = 32 << 10;

/// A stream that fails when it cannot be written to for too long.
pub struct PromptStream<S> {
    stream: S,
    /// The wait for room, and the bytes that have found some since it began.
    waiting: Option<(Pin<Box<Sleep>>, usize)>,
}

impl<S> PromptStream<S> {
    /// The same stream, with a limit on how slowly the other side reads.
    pub fn new(stream: S) -> PromptStream<S> {
        PromptStream { stream, waiting: None }
    }

    /// Takes note of how an attempt to write has ended.
    fn watch(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match (written, &mut self.waiting) {
            (Poll::Pending, waiting) => {
                let (end, _) = waiting.get_or_insert_with(|| (Box::pin(sleep_until(Instant::now() + READ_TIME)), 0));
                ready!(end.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            (Poll::Ready(Ok(more)), Some((_, bytes))) => {
                *bytes += more;
                if *bytes >= STEP {
                    self.waiting = None;
                }
                Poll::Ready(Ok(more))
            }
            (done, _) => done,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PromptStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PromptStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Asked for when all has been written.
        self.waiting = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, duplex},
        time::{advance, pause},
    };

    use super::*;

    /// Sends much to somebody who reads `bytes` of it every ten seconds, and says whether it arrives.
    async fn arrives(bytes: usize) -> bool {
        pause();
        let (ours, mut theirs) = duplex(1000);
        let sending = tokio::spawn(async move {
            let mut stream = PromptStream::new(ours);
            stream.write_all(&[0; 10 * STEP]).await.and(stream.flush().await)
        });
        let mut read = vec![0; bytes.max(1)];
        while !sending.is_finished() {
            if bytes > 0 {
                let _ = theirs.read(&mut read).await;
            }
            advance(Duration::from_millis(10)).await;
            tokio::task::yield_now().await;
        }
        sending.await.unwrap().is_ok()
    }

    fn run<T>(task: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(task)
    }

    #[test]
    fn who_does_not_read_is_given_up() {
        assert!(run(arrives(1000)));
        assert!(!run(arrives(0)));
        assert!(!run(arrives(1)), "one byte now and then is not enough");
    }
}

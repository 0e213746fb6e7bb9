//! Lines of a client, none of which takes more memory than it should.

use std::io::{self, BufRead};

/// A line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// All of it; the last one of the input may lack its end.
    Whole(Vec<u8>),
    /// It was longer than allowed, and has been skipped.
    TooLong,
}

/// The next line, of at most `longest` bytes; `None` when there are no more.
///
/// # Errors
/// Those of the input.
pub fn next_line(input: &mut impl BufRead, longest: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let (mut too_long, mut begun) = (false, false);
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        too_long |= line.len() + part.len() > longest;
        if !too_long {
            line.extend_from_slice(part);
        }
        let (used, finished) = (part.len() + usize::from(end.is_some()), buffer.is_empty());
        input.consume(used);
        begun |= used > 0;
        if end.is_some() || finished {
            return Ok(begun.then_some(if too_long { Line::TooLong } else { Line::Whole(line) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_their_ends() {
        let lines = |input: &[u8]| {
            // A small buffer, so that lines come in pieces.
            let mut input = io::BufReader::with_capacity(7, input);
            let mut lines = Vec::new();
            while let Some(line) = next_line(&mut input, 20).unwrap() {
                lines.push(line);
            }
            lines
        };
        let whole = |text: &[u8]| Line::Whole(text.to_vec());
        assert!(lines(b"").is_empty());
        assert_eq!(lines(b"\n"), [whole(b"")]);
        assert_eq!(lines(b"one\n\nlast line"), [whole(b"one"), whole(b""), whole(b"last line")]);
        let longest = [b'x'; 20];
        let input = [&longest[..], b"x\n", &longest, b"\nshort\n", &longest, &longest].concat();
        assert_eq!(lines(&input), [Line::TooLong, whole(&longest), whole(b"short"), Line::TooLong]);
    }
}

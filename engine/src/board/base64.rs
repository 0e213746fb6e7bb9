//! Base 64 without padding, as GNU Backgammon's IDs use it: the first byte's highest bits come first.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Why [`decode`] refused a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text has so many characters.
    Length(usize),
    /// A character outside base 64.
    Character(char),
    /// The bits of the last character that belong to no byte are not zero.
    SpareBits(u8),
}

/// Decodes exactly `N` bytes; the spare bits of the last character must be zero.
pub(super) fn decode<const N: usize>(text: &str) -> Result<[u8; N], Fault> {
    let expected = (N * 8).div_ceil(6);
    let length = text.chars().count();
    if length != expected {
        return Err(Fault::Length(length));
    }
    let mut bytes = [0u8; N];
    let (mut buffer, mut bits, mut next) = (0u32, 0, 0);
    for character in text.chars() {
        let value = ALPHABET.iter().position(|&c| char::from(c) == character);
        let value = value.ok_or(Fault::Character(character))?;
        buffer = buffer << 6 | value as u32;
        bits += 6;
        if bits >= 8 && next < N {
            bits -= 8;
            bytes[next] = (buffer >> bits) as u8;
            next += 1;
            buffer &= (1 << bits) - 1;
        }
    }
    if buffer != 0 { Err(Fault::SpareBits(buffer as u8)) } else { Ok(bytes) }
}

/// Encodes bytes; the spare bits of the last character are zero.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity((bytes.len() * 8).div_ceil(6));
    let (mut buffer, mut bits) = (0u32, 0);
    for &byte in bytes {
        buffer = buffer << 8 | u32::from(byte);
        bits += 8;
        while bits >= 6 {
            bits -= 6;
            text.push(char::from(ALPHABET[(buffer >> bits & 63) as usize]));
        }
    }
    if bits > 0 {
        text.push(char::from(ALPHABET[(buffer << (6 - bits) & 63) as usize]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts() {
        // The test vectors of RFC 4648, section 10.
        for (bytes, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), text);
        }
        assert_eq!(decode("Zm9vYg"), Ok(*b"foob"));
        assert_eq!(decode("Zm9v"), Ok(*b"foo"));
        assert_eq!(decode::<3>("Zm9"), Err(Fault::Length(3)));
        assert_eq!(decode::<3>("Zm-v"), Err(Fault::Character('-')));
        assert_eq!(decode::<1>("Zh"), Err(Fault::SpareBits(1)));
    }
}

//! Match equity tables in the XML format of GNU Backgammon (its `met.dtd`).

use std::{fs, io, panic, path::Path, thread};

use roxmltree::{Document, Node, ParsingOptions};
use thiserror::Error;

use crate::cube::{MatchEquityError, MatchEquityTable};

/// More than any table needs.
const LONGEST_FILE: u64 = 1 << 20;

/// Why a file is not a match equity table.
#[derive(Debug, Error)]
pub enum TableFileError {
    /// It could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No regular file of a sensible length.
    #[error("expected a regular file of at most {LONGEST_FILE} bytes")]
    NoFile,
    /// It is no XML.
    #[error("no XML: {0}")]
    Xml(#[from] roxmltree::Error),
    /// An element is missing.
    #[error("there is no <{0}>")]
    Missing(&'static str),
    /// A table that is not written out.
    #[error("a <{element}> of type {kind:?}, expected type \"explicit\" (\"--met computed\" computes a table)")]
    Kind {
        /// Which table.
        element: &'static str,
        /// Its type.
        kind: String,
    },
    /// Different tables for the two players.
    #[error("a <post-crawford-table> for player {0:?}, expected one for \"both\"")]
    Player(String),
    /// The values make no table.
    #[error(transparent)]
    Values(#[from] MatchEquityError),
}

/// Reads a file.
pub fn load_table(path: &Path) -> Result<MatchEquityTable, TableFileError> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > LONGEST_FILE {
        return Err(TableFileError::NoFile);
    }
    parse_table(&fs::read_to_string(path)?)
}

/// More elements and texts than any table has.
const MOST_NODES: u32 = 20_000;

/// Elements that lie in each other are parsed in calls within each other: this is room for three thousand bytes each.
const STACK: usize = 64 << 20;

fn parse_table(text: &str) -> Result<MatchEquityTable, TableFileError> {
    thread::scope(|scope| {
        let parsing = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || table_of(text))?;
        parsing.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

fn table_of(text: &str) -> Result<MatchEquityTable, TableFileError> {
    // The files name a document type, which is not looked at.
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MOST_NODES };
    let document = Document::parse_with_options(text, options)?;
    let root = document.root_element();
    let name = descendant(root, "name").and_then(|name| name.text()).unwrap_or("unnamed").trim();
    let before = table(root, "pre-crawford-table")?;
    let after = table(root, "post-crawford-table")?;
    match after.attribute("player") {
        None | Some("both") => {}
        Some(player) => return Err(TableFileError::Player(player.chars().take(40).collect())),
    }
    let rows = before.children().filter(|row| row.has_tag_name("row")).map(values).collect::<Result<Vec<_>, _>>()?;
    let trailer = descendant(after, "row").map(values).transpose()?.ok_or(TableFileError::Missing("row"))?;
    let size = rows.len().min(trailer.len());
    if let Some(short) = rows.iter().take(size).find(|row| row.len() < size) {
        return Err(MatchEquityError::Values { found: short.len(), expected: size }.into());
    }
    let square = rows.iter().take(size).flat_map(|row| row[..size].iter().copied()).collect();
    Ok(MatchEquityTable::new(name, square, trailer[..size].to_vec())?)
}

fn descendant<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.descendants().find(|node| node.has_tag_name(name))
}

fn table<'a>(root: Node<'a, 'a>, element: &'static str) -> Result<Node<'a, 'a>, TableFileError> {
    let table = descendant(root, element).ok_or(TableFileError::Missing(element))?;
    match table.attribute("type") {
        Some("explicit") => Ok(table),
        kind => Err(TableFileError::Kind { element, kind: kind.unwrap_or_default().chars().take(40).collect() }),
    }
}

/// The chances in a row.
fn values(row: Node<'_, '_>) -> Result<Vec<f32>, TableFileError> {
    let chance = |node: Node<'_, '_>| {
        let text = node.text().unwrap_or_default().trim().to_owned();
        text.parse().map_err(|_| MatchEquityError::Chance(text.chars().take(40).collect()).into())
    };
    row.children().filter(|node| node.has_tag_name("me")).map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"<?xml version="1.0"?>
<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd">
<met>
  <info><name>Two points</name><length>2</length></info>
  <pre-crawford-table type="explicit">
    <row><me>0.5</me><me>0.7</me></row>
    <row><me>0.3</me><me>0.5</me></row>
  </pre-crawford-table>
  <post-crawford-table type="explicit" player="both"><row><me>0.5</me><me>0.48</me></row></post-crawford-table>
</met>"#;

    #[test]
    fn tables_are_read() {
        let table = parse_table(SMALL).unwrap();
        assert_eq!((table.name(), table.size()), ("Two points", 2));
        assert_eq!((table.before([1, 2]).0, table.after_crawford([2, 1]).0), (0.7, 0.48));
    }

    #[test]
    fn the_largest_tables_are_read() {
        let row = format!("<row>{}\n</row>\n", "\n<me>0.5</me>".repeat(64));
        let text = format!(
            "<met>\n<pre-crawford-table type='explicit'>\n{}</pre-crawford-table>\n\
             <post-crawford-table type='explicit'>\n{row}</post-crawford-table>\n</met>",
            row.repeat(64)
        );
        assert_eq!(parse_table(&text).unwrap().size(), 64);
    }

    #[test]
    fn faults_are_named() {
        let fault = |from: &str, to: &str| {
            let text = SMALL.replacen(from, to, 1);
            assert_ne!(text, SMALL);
            parse_table(&text).unwrap_err().to_string()
        };
        assert!(fault("</met>", "").starts_with("no XML"));
        assert!(fault("explicit", "zadeh").contains("of type \"zadeh\""));
        assert!(fault("both", "0").contains("for player \"0\""));
        assert!(fault("<me>0.7</me>", "").contains("1 values, expected 2"));
        assert!(fault("0.7", "7").contains("\"7\" is no match winning chance"));
        assert!(fault("0.48", "NaN").contains("\"NaN\" is no match winning chance"));
        assert!(fault("pre-crawford-table type=\"explicit\"", "other type=\"explicit\"").contains("no XML"));
        for deep in ["<a>".repeat(100_000), format!("<met>{}", "<info>".repeat(100_000)), "<a>".repeat(15_000)] {
            assert!(parse_table(&deep).unwrap_err().to_string().starts_with("no XML"));
        }
        assert!(parse_table("<met/>").unwrap_err().to_string().contains("<pre-crawford-table>"));
    }
}

//! Shell completions and man pages know every command.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn zar(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zar")).args(arguments).output().unwrap()
}

fn said(arguments: &[&str]) -> String {
    let output = zar(arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that a help lists.
fn commands(arguments: &[&str]) -> Vec<String> {
    let help = said(arguments);
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn completions_name_every_command() {
    let names = commands(&["--help"]);
    assert!(names.len() > 10 && names.iter().any(|name| name == "completions"), "{names:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = said(&["completions", shell]);
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell}: {name}");
        }
        // Fish writes long options without their hyphens.
        assert!(script.contains("jacoby"), "{shell}");
    }
    let refused = zar(&["completions", "tcsh"]);
    assert_eq!(refused.status.code(), Some(2));
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.lines().count() == 1 && why.contains("possible values: bash"), "{why}");
}

#[test]
fn bash_completes_words() {
    let script = said(&["completions", "bash"]);
    let completed = |words: &[&str]| {
        let last = words.last().unwrap();
        let ask = format!(
            "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _zar zar '{last}' ''; echo \"${{COMPREPLY[*]}}\"",
            words.join(" "),
            words.len() - 1
        );
        let output = Command::new("bash").args(["-c", &ask]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(completed(&["zar", "ev"]), "eval");
    assert_eq!(completed(&["zar", "bearoff", "sh"]), "show");
    assert_eq!(completed(&["zar", "eval", "--jac"]), "--jacoby");
}

#[test]
fn every_command_has_a_man_page() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man/man1");
    let _ = fs::remove_dir_all(&folder);
    assert_eq!(said(&["man", folder.to_str().unwrap()]), "");
    let mut names: Vec<String> = commands(&["--help"]).iter().map(|name| format!("zar-{name}")).collect();
    names.extend(commands(&["bearoff", "--help"]).iter().map(|name| format!("zar-bearoff-{name}")));
    names.push("zar".to_owned());
    for name in &names {
        let page = fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")) && page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), names.len());
    let main = fs::read_to_string(folder.join("zar.1")).unwrap().replace('\\', "");
    assert!(
        names
            .iter()
            .all(|name| name == "zar" || name.starts_with("zar-bearoff-") || main.contains(&format!("{name}(1)")))
    );
    let refused = zar(&["man", "/dev/null/pages"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("cannot write man pages"));
}

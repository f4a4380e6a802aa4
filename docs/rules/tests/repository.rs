//! The pages against the repository: what is cited is defined, what is defined is checked or says why not.

mod common;

use std::collections::BTreeSet;

use warploom_rules::cite::{Citer, OTHER};
use warploom_rules::{pages, rules};

#[test]
fn every_rule_has_its_four_parts_and_an_anchor_of_its_own() {
    let mut seen = BTreeSet::new();
    for page in pages() {
        for rule in page.rules() {
            let rule = rule.unwrap_or_else(|fault| panic!("{fault}"));
            assert!(seen.insert(rule.code), "{} is defined twice", rule.code);
            let anchored = format!("<a id=\"{}\"></a>\n### {} ", rule.code, rule.code);
            assert!(page.text.contains(&anchored), "{}", rule.code);
        }
    }
    assert!(seen.len() > 600, "{} rules", seen.len());
    for page in pages() {
        for heading in page.text.lines().filter_map(|l| l.strip_prefix("### ")) {
            let code = heading.split(' ').next().unwrap_or_default();
            assert!(seen.contains(code), "{code} of docs/rules/{}.md has no anchor", page.name);
        }
    }
}

#[test]
fn every_code_cited_in_the_repository_is_defined() {
    let citer = Citer::default();
    let (mut wrong, mut found) = (Vec::new(), 0);
    for text in common::texts().expect("the repository") {
        for citation in citer.codes(&text.text, text.kind) {
            found += 1;
            if !citer.defined(&citation.code) {
                wrong.push(format!(
                    "{}:{} cites {}, which no page defines",
                    text.path, citation.line, citation.code
                ));
            }
        }
    }
    assert!(found > 3000, "only {found} citations: is the repository being read?");
    assert!(wrong.is_empty(), "{}\n(see docs/rules/README.md)", wrong.join("\n"));
}

#[test]
fn the_pages_cite_only_what_they_define() {
    let citer = Citer::default();
    for page in pages() {
        for citation in citer.codes(page.text, warploom_rules::cite::Kind::Prose) {
            assert!(
                citer.defined(&citation.code),
                "docs/rules/{}.md:{}: {}",
                page.name,
                citation.line,
                citation.code
            );
        }
    }
}

#[test]
fn every_rule_is_cited_by_code_or_says_why_not() {
    let texts = common::texts().expect("the repository");
    let citing = common::citing(&texts);
    let silent = rules().into_iter().filter(|rule| {
        let why = ["not checked yet: ", "nothing: "].iter().any(|w| rule.checked_by.starts_with(w));
        !why && !citing.contains_key(rule.code)
    });
    let silent: Vec<_> = silent.map(|rule| rule.code).collect();
    assert!(
        silent.is_empty(),
        "cited by no checker, error or test, and their pages do not say why: {silent:?}"
    );
}

#[test]
fn words_left_out_are_no_rules() {
    let citer = Citer::default();
    for (word, reason) in OTHER {
        assert!(!citer.defined(word) && !reason.is_empty(), "{word}");
    }
}

#[test]
fn links_to_rules_lead_somewhere() {
    let own = pages().iter().map(|p| (format!("docs/rules/{}.md", p.name), p.text.to_owned()));
    let texts = common::texts().expect("the repository").into_iter().map(|t| (t.path, t.text));
    let mut found = 0;
    for (path, text) in own.chain(texts.filter(|(path, _)| path.ends_with(".md"))) {
        for link in text.split("](").skip(1).filter_map(|t| t.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let within = file
                .split("rules/")
                .last()
                .filter(|_| path.starts_with("docs/rules/") || file.contains("rules/"));
            let Some(name) = within.and_then(|f| f.strip_suffix(".md")).filter(|f| *f != "README") else {
                continue;
            };
            let Some(target) = pages().iter().find(|p| p.name == name) else {
                assert!(name.starts_with("../"), "{path} links to {link}");
                continue;
            };
            assert!(
                anchor.is_empty() || target.text.contains(&format!("<a id=\"{anchor}\">")),
                "{path}: {link}"
            );
            found += 1;
        }
    }
    assert!(found > 100, "only {found} links: are the pages being read?");
}

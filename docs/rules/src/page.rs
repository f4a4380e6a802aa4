//! The pages, and how a rule is cut out of one.
//!
//! A rule begins with its anchor, `<a id="C31"></a>`, and its heading, `### C31 Registers`; then come the statement
//! and three items, `- **Source:**`, `- **Checked by:**` and `- **Error:**`. It ends at the next anchor or heading.

use std::fmt;

/// A page: the rules of one letter, with what stands around them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// The file's name without `.md`, as `C` or `findings`.
    pub name: &'static str,
    /// The whole text, Markdown.
    pub text: &'static str,
}

macro_rules! embedded {
    ($($name:literal),*) => {
        [$(Page { name: $name, text: include_str!(concat!("../", $name, ".md")) }),*]
    };
}

const PAGES: [Page; 13] = embedded!["S", "B", "A", "L", "D", "M", "H", "C", "E", "findings", "T", "Q", "G"];

/// Every page, in the order of a kernel's way: schedule, buffers, storage, code, emulator, chips, aims.
pub fn pages() -> &'static [Page] {
    &PAGES
}

/// A rule with its four parts, each as plain Markdown.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// As `C31`.
    pub code: &'static str,
    /// A few words, as in the heading.
    pub title: &'static str,
    /// What holds.
    pub statement: &'static str,
    /// How it is known.
    pub source: String,
    /// Files that cite it: checkers, sources, tests; or why nothing does.
    pub checked_by: String,
    /// What its violation is called; or why it has no error of its own.
    pub error: String,
    /// The page it stands on, as `C`.
    pub page: &'static str,
}

impl Rule {
    /// Whether nothing checks it yet, as its page says.
    pub fn unchecked(&self) -> bool {
        self.checked_by.starts_with("not checked yet:")
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}\n\n{}\n", self.code, self.title, self.statement)?;
        writeln!(f, "source: {}", self.source)?;
        writeln!(f, "checked by: {}", self.checked_by)?;
        writeln!(f, "error: {}", self.error)?;
        write!(f, "page: docs/rules/{}.md#{}", self.page, self.code)
    }
}

/// Why a page cannot be cut into rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The page.
    pub page: &'static str,
    /// The code of the rule at fault.
    pub code: String,
    /// What is missing.
    pub message: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "docs/rules/{}.md, {}: {}", self.page, self.code, self.message)
    }
}

impl std::error::Error for Fault {}

const ANCHOR: &str = "<a id=\"";

impl Page {
    /// The first heading, without its mark.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }

    /// The rules of the page, in its order; those at fault say what they lack.
    pub fn rules(&self) -> impl Iterator<Item = Result<Rule, Fault>> {
        let page = self.name;
        self.text.split(ANCHOR).skip(1).map(move |text| cut(page, text))
    }
}

/// Every rule of every page, in order. A rule at fault is left out; the tests of this crate say that none is.
pub fn rules() -> Vec<Rule> {
    PAGES.iter().flat_map(Page::rules).filter_map(Result::ok).collect()
}

/// The rule in a text that begins behind `<a id="`.
fn cut(page: &'static str, text: &'static str) -> Result<Rule, Fault> {
    let (code, rest) = text.split_once("\"></a>\n").unwrap_or((text.lines().next().unwrap_or_default(), ""));
    let fault = |message| Fault { page, code: code.to_owned(), message };
    let rest = rest.split("\n## ").next().unwrap_or_default();
    let (heading, body) = rest.split_once('\n').ok_or_else(|| fault("nothing behind its anchor"))?;
    let title = heading
        .strip_prefix("### ")
        .and_then(|h| h.strip_prefix(code))
        .and_then(|h| h.strip_prefix(' '))
        .ok_or_else(|| fault("its heading is not `### CODE Title`"))?;
    let (statement, items) = body.split_once("\n- **Source:** ").ok_or_else(|| fault("no source"))?;
    let (source, items) =
        items.split_once("\n- **Checked by:** ").ok_or_else(|| fault("not where checked"))?;
    let (checked_by, items) = items.split_once("\n- **Error:** ").ok_or_else(|| fault("no error"))?;
    let error = items.split("\n\n").next().unwrap_or_default();
    let parts = [title, statement, source, checked_by, error];
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Err(fault("an empty part"));
    }
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Rule {
        code,
        title,
        statement: statement.trim_matches('\n'),
        source: joined(source),
        checked_by: joined(checked_by),
        error: joined(error),
        page,
    })
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_rule_without_one_of_its_parts_says_which() {
        let whole = "C1\"></a>\n### C1 Title\n\nHolds.\n\n- **Source:** a\n- **Checked by:** b\n  c\n- **Error:** d\n";
        let rule = cut("C", whole).expect("whole");
        assert_eq!((rule.statement, rule.checked_by.as_str(), rule.error.as_str()), ("Holds.", "b c", "d"));
        let faults = [
            ("C1\"></a>", "nothing behind its anchor"),
            ("C1\"></a>\n### C2 Title\n\n", "its heading is not `### CODE Title`"),
            ("C1\"></a>\n### C1 Title\n\nHolds.\n", "no source"),
            ("C1\"></a>\n### C1 Title\n\nHolds.\n\n- **Source:** a\n", "not where checked"),
            ("C1\"></a>\n### C1 Title\n\nHolds.\n\n- **Source:** a\n- **Checked by:** b\n", "no error"),
            (
                "C1\"></a>\n### C1 Title\n\n\n- **Source:** a\n- **Checked by:** b\n- **Error:** c\n",
                "an empty part",
            ),
        ];
        for (text, message) in faults {
            assert_eq!(cut("C", text).map_err(|f| f.message), Err(message), "{text}");
        }
    }
}

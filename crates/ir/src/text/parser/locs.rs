//! Locations and aliases.

use std::collections::HashMap;

use super::{Parse, Parser};
use crate::diag::Code;
use crate::entity::LocId;
use crate::loc::Loc;
use crate::text::lexer::Kind;

impl<'a> Parser<'a> {
    /// `loc(..)` if it comes next; the location of things without one otherwise.
    pub(super) fn optional_loc(&mut self) -> Parse<LocId> {
        if !self.is_word("loc") {
            return Ok(self.m.unknown_loc());
        }
        self.advance();
        self.loc_in_parentheses()
    }

    fn loc_in_parentheses(&mut self) -> Parse<LocId> {
        self.expect("(")?;
        let loc = self.loc_body()?;
        self.expect(")")?;
        Ok(loc)
    }

    fn loc_body(&mut self) -> Parse<LocId> {
        self.nested(|p| {
            let token = p.tok;
            match token.kind {
                Kind::Hash => {
                    p.advance();
                    let name = p.slice(token.start + 1, token.end);
                    if let Some((loc, _)) = p.loc_uses.get(name) {
                        return Ok(*loc);
                    }
                    let loc = p.m.locs.push(Loc::Alias(name.to_owned()));
                    p.loc_uses.insert(name, (loc, token.start));
                    Ok(loc)
                }
                Kind::String => {
                    let text = p.string_value(token)?;
                    p.advance();
                    p.file_or_name(text)
                }
                Kind::Word => p.word_loc(),
                _ => Err(p.unexpected("a location")),
            }
        })
    }

    fn file_or_name(&mut self, text: String) -> Parse<LocId> {
        if self.eat(":") {
            let line = self.small_number("a line")?;
            self.expect(":")?;
            let column = self.small_number("a column")?;
            if self.is_word("to") {
                return Err(self.unexpected("`)` (ranges of a file are not supported)"));
            }
            return Ok(self.m.locs.push(Loc::File { file: text, line, column }));
        }
        let mut child = None;
        if self.is("(") {
            child = Some(self.loc_in_parentheses()?);
        }
        Ok(self.m.locs.push(Loc::Name { name: text, child }))
    }

    fn small_number(&mut self, what: &str) -> Parse<u32> {
        let token = self.expect_kind(Kind::Integer, what)?;
        match self.text(token).parse() {
            Ok(n) => Ok(n),
            Err(_) => Err(self.error(token.start, format!("{what} is out of range"))),
        }
    }

    fn word_loc(&mut self) -> Parse<LocId> {
        let token = self.tok;
        match self.text(token) {
            "unknown" => {
                self.advance();
                Ok(self.m.locs.push(Loc::Unknown))
            }
            "callsite" => {
                self.advance();
                self.expect("(")?;
                let callee = self.loc_body()?;
                self.expect_word("at")?;
                let caller = self.loc_body()?;
                self.expect(")")?;
                Ok(self.m.locs.push(Loc::CallSite { callee, caller }))
            }
            "fused" => {
                self.advance();
                let mut metadata = None;
                if self.is("<") {
                    metadata = Some(self.angle_text()?.trim().to_owned());
                }
                self.expect("[")?;
                let mut parts = Vec::new();
                if !self.eat("]") {
                    loop {
                        parts.push(self.loc_body()?);
                        if !self.eat(",") {
                            self.expect("]")?;
                            break;
                        }
                    }
                }
                Ok(self.m.locs.push(Loc::Fused { metadata, parts }))
            }
            _ => Err(self.unexpected("a location")),
        }
    }

    /// `#name = loc(..)` or `#name = attribute`. `behind` tells whether the module stands before it.
    pub(super) fn alias(&mut self, behind: bool) -> Parse<()> {
        let token = self.advance();
        let name = self.slice(token.start + 1, token.end).to_owned();
        self.expect("=")?;
        if self.is_word("loc") {
            self.advance();
            let loc = self.loc_in_parentheses()?;
            self.m.loc_aliases.push((name, loc));
            if !behind {
                self.m.leading_loc_aliases = self.m.loc_aliases.len();
            }
        } else {
            let attr = self.attr()?;
            self.m.attr_aliases.push((name, attr));
        }
        Ok(())
    }

    /// Every alias is defined once, every used one is defined, and no location leads back to itself.
    pub(super) fn check_aliases(&mut self) {
        let mut attrs: HashMap<&str, ()> = HashMap::new();
        let mut twice = None;
        for (name, _) in &self.m.attr_aliases {
            if attrs.insert(name, ()).is_some() {
                twice = Some(name.clone());
            }
        }
        let mut locs: HashMap<&str, LocId> = HashMap::new();
        for (name, loc) in &self.m.loc_aliases {
            if locs.insert(name, *loc).is_some() || attrs.contains_key(name.as_str()) {
                twice = Some(name.clone());
            }
        }
        let mut missing: Vec<(usize, &str)> = Vec::new();
        missing.extend(self.attr_uses.iter().filter(|u| !attrs.contains_key(*u.0)).map(|u| (*u.1, *u.0)));
        missing.extend(self.loc_uses.iter().filter(|u| !locs.contains_key(*u.0)).map(|u| (u.1.1, *u.0)));
        missing.sort_unstable();
        let circle = self.circular_loc(&locs);
        for (at, name) in missing {
            self.error(at, format!("alias `#{name}` is not defined"));
        }
        if let Some(name) = twice {
            self.error(self.src.len(), format!("alias `#{name}` is defined twice"));
        }
        if let Some(name) = circle {
            let at = self.loc_uses.get(name.as_str()).map_or(0, |u| u.1);
            let diag = self.diagnostic(Code::Parse, format!("location `#{name}` leads back to itself"), at);
            self.report(diag);
        }
    }

    /// The name of a location alias that reaches itself, if there is one.
    fn circular_loc(&self, aliases: &HashMap<&str, LocId>) -> Option<String> {
        // 1 on the path from the start, 2 finished; depth first with a stack of our own.
        let mut state: HashMap<&str, u8> = HashMap::new();
        for (name, _) in &self.m.loc_aliases {
            let mut stack: Vec<(&str, bool)> = vec![(name, false)];
            while let Some((name, leave)) = stack.pop() {
                if leave {
                    state.insert(name, 2);
                    continue;
                }
                if state.contains_key(name) {
                    continue;
                }
                state.insert(name, 1);
                stack.push((name, true));
                let mut locs: Vec<LocId> = aliases.get(name).copied().into_iter().collect();
                while let Some(loc) = locs.pop() {
                    match &self.m.locs[loc] {
                        Loc::Alias(next) if state.get(next.as_str()) == Some(&1) => {
                            return Some(next.clone());
                        }
                        Loc::Alias(next) => stack.push((next, false)),
                        Loc::Name { child, .. } => locs.extend(child),
                        Loc::CallSite { callee, caller } => locs.extend([*callee, *caller]),
                        Loc::Fused { parts, .. } => locs.extend(parts),
                        Loc::Unknown | Loc::File { .. } => {}
                    }
                }
            }
        }
        None
    }
}

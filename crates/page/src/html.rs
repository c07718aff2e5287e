//! HTML in which no text can be taken for markup.
//!
//! [`Html`] is built from tags in this crate's source, and from text, which is escaped when it is
//! added. There is no other way to add content, so any name is shown as text.

use sealane_diagnostic::deceives;
use std::fmt::{self, Display, Write};

/// A piece of HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

/// Attributes: names from the source, values escaped.
pub type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

impl Html {
    /// Makes an empty piece.
    pub fn new() -> Html {
        Html::default()
    }

    /// Adds markup from the source.
    pub fn markup(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Adds text, escaped.
    pub fn text(&mut self, text: impl Display) -> &mut Html {
        // Writing to a string does not fail.
        let _ = write!(Escaped(&mut self.0), "{text}");
        self
    }

    /// Adds another piece.
    pub fn html(&mut self, html: &Html) -> &mut Html {
        self.0.push_str(&html.0);
        self
    }

    /// Opens an element.
    pub fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) -> &mut Html {
        self.start(tag, attributes).markup(">")
    }

    /// Closes an element.
    pub fn close(&mut self, tag: &'static str) -> &mut Html {
        self.markup("</").markup(tag).markup(">")
    }

    /// Adds an element without content, such as the shapes of a picture.
    pub fn empty(&mut self, tag: &'static str, attributes: Attributes<'_>) -> &mut Html {
        self.start(tag, attributes).markup("/>")
    }

    /// Adds an element that holds text.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        text: impl Display,
    ) -> &mut Html {
        self.open(tag, attributes).text(text).close(tag)
    }

    /// Adds an element of one class that has text only.
    pub fn styled(&mut self, tag: &'static str, class: &str, text: impl Display) -> &mut Html {
        self.element(tag, &[("class", &class)], text)
    }

    /// Opens a section, and adds its heading.
    pub fn section(&mut self, heading: &str) -> &mut Html {
        self.open("section", &[]).element("h2", &[], heading)
    }

    fn start(&mut self, tag: &'static str, attributes: Attributes<'_>) -> &mut Html {
        self.markup("<").markup(tag);
        for (name, value) in attributes {
            self.markup(" ").markup(name).markup("=\"").text(value);
            self.markup("\"");
        }
        self
    }
}

impl Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writer that escapes its input. The output is safe between tags and in quoted attributes.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' => self.0.push('\n'),
                character if deceives(character) => self.0.push(char::REPLACEMENT_CHARACTER),
                character => self.0.push(character),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        let hostile = "</p><script>alert('\"&\")</script>\u{202e}\u{1b}[2J";
        let mut html = Html::new();
        html.element("p", &[("title", &hostile)], hostile);
        let text = html.to_string();
        let escaped = "&lt;/p&gt;&lt;script&gt;alert(&#39;&quot;&amp;&quot;)&lt;/script&gt;\
                       \u{fffd}\u{fffd}[2J";
        assert_eq!(text, format!("<p title=\"{escaped}\">{escaped}</p>"));
    }
}

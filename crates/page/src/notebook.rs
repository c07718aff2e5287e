//! Cards in a notebook: one element with its own style, which takes its colours from the
//! surrounding page, so that it is readable in light and dark notebooks.

use crate::card::{Body, Card, Column, Group};
use crate::html::{Attributes, Html};

/// Style of all cards. Names begin with `sealane`, since the style of one output applies to the
/// whole notebook. Alignment of cells is marked important: JupyterLab and the pages of nbconvert
/// align the cells of all tables to the right, by a more specific rule
/// (`:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td`).
const STYLE: &str = include_str!("notebook.css");

impl Card {
    /// Formats the card as a piece of HTML for a notebook.
    pub fn html(&self) -> Html {
        let mut html = Html::new();
        html.markup("<style>").markup(STYLE).markup("</style>");
        html.open("div", &[("class", &"sealane-card")]);
        if !self.title.is_empty() {
            html.styled("div", "sealane-title", &self.title);
        }
        html.open("table", &[]);
        self.groups.iter().for_each(|group| rows(&mut html, group));
        html.close("table").close("div");
        html
    }
}

/// Adds the rows of a group, with its label beside them.
fn rows(html: &mut Html, group: &Group) {
    html.open("tr", &[]);
    let mut cell: Attributes<'_> = &[("colspan", &2)];
    if let Some(label) = group.label {
        html.element("th", &[("scope", &"row")], label);
        cell = &[];
    }
    html.open("td", cell);
    match &group.body {
        Body::Lines(lines) => lines.iter().for_each(|line| {
            html.element("div", &[], line);
        }),
        Body::Table(columns, rows) => table(html, columns, rows),
    }
    html.close("td").close("tr");
}

fn table(html: &mut Html, columns: &[Column], rows: &[Vec<String>]) {
    let class = |column: &Column| if column.number { "sealane-number" } else { "" };
    html.open("table", &[]);
    if columns.iter().any(|column| !column.name.is_empty()) {
        html.open("tr", &[]);
        for column in columns {
            html.styled("th", class(column), column.name);
        }
        html.close("tr");
    }
    for row in rows {
        html.open("tr", &[]);
        for (column, cell) in columns.iter().zip(row) {
            html.styled("td", class(column), cell.trim());
        }
        html.close("tr");
    }
    html.close("table");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_of_a_notebook_does_not_align_cells() {
        let of = |selector| STYLE.split('}').filter(move |rule| rule.contains(selector));
        let rules = of(" td").chain(of(".sealane-number"));
        let aligned = rules.filter(|rule| rule.contains("text-align"));
        let aligned = aligned.map(|rule| rule.contains(" !important"));
        assert_eq!(aligned.collect::<Vec<_>>(), [true, true]);
    }

    #[test]
    fn a_card_of_hostile_names_is_text() {
        let mut card = Card::new("<b>plan</b>");
        card.line("gives", "x<script>");
        let columns = [Column::text("step"), Column::number("", 0)];
        card.table(None, columns, [vec!["&lt;".into(), "1".into()]]);
        let html = card.html().to_string();
        let (_, body) = html.split_once("</style>").unwrap();
        let wanted = "<div class=\"sealane-card\"><div class=\"sealane-title\">\
             &lt;b&gt;plan&lt;/b&gt;</div>\
             <table><tr><th scope=\"row\">gives</th><td><div>x&lt;script&gt;</div></td></tr>\
             <tr><td colspan=\"2\"><table><tr><th class=\"\">step</th>\
             <th class=\"sealane-number\"></th></tr><tr><td class=\"\">&amp;lt;</td>\
             <td class=\"sealane-number\">1</td></tr></table></td></tr></table></div>";
        assert_eq!(body, wanted);
    }
}

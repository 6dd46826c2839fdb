//! What every page must be.

/// A page as a tree. It is written so that an XML parser reads it: the strictest there is.
pub(crate) fn parsed(html: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(html, options).expect("a well-formed page")
}

/// Fails where a page would ask for anything but itself.
pub(crate) fn loads_nothing(html: &str) {
    for node in parsed(html).descendants() {
        for a in node.attributes() {
            let loads = matches!(a.name(), "src" | "href" | "srcset" | "action" | "poster");
            let inside = a.value().starts_with('#') || a.value().starts_with("data:image/png;");
            assert!(!loads || inside, "{a:?}");
        }
        assert!(!node.has_tag_name("link"), "a link");
    }
    assert!(!html.contains("url(") && !html.contains("@import") && !html.contains("fetch("));
}

/// A name that is none for a browser.
pub(crate) const HOSTILE: &str = "</title><script>alert('x')</script>&<b>\u{1}\"";

/// Fails where [`HOSTILE`] is more than text.
pub(crate) fn is_text(html: &str) {
    assert_eq!(html.matches("<script").count(), 1, "only our own");
    assert!(!html.contains("<b>") && !html.contains("alert('x')</"));
    // XML has no place for control characters, HTML has.
    parsed(&html.replace('\u{1}', " "));
}

//! The examples of docs/BUDGETS.md, as tests take them.

/// The page.
pub(crate) const PAGE: &str = include_str!("../../../../docs/BUDGETS.md");

/// The blocks of one language.
pub(crate) fn blocks(language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let parts = PAGE.split(&opening).skip(1);
    parts.filter_map(|part| part.split_once("```").map(|(block, _)| block.to_string())).collect()
}

/// The arguments of each `whyslow check` in the page's examples.
pub(crate) fn checks() -> Vec<Vec<String>> {
    let blocks = [blocks("sh"), blocks("yaml")].concat();
    let lines = blocks.iter().flat_map(|block| block.lines());
    let commands = lines.filter_map(|line| line.split_once("whyslow check ").map(|(_, rest)| rest));
    commands
        .map(|rest| ["check"].into_iter().chain(rest.split_whitespace()).map(str::to_string).collect())
        .collect()
}

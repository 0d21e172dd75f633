//! The binary.

fn main() -> anyhow::Result<()> {
    Ok(())
}

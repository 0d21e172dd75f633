//! `#[gated]`: a function of a rule keeps its comparisons as they are written, and each is also told to `crate::gate`, with the text of both
//! sides, the place, and the reason that stands above the threshold. So no rule says its guards twice.
//!
//! Told are: comparisons (`<`, `<=`, `>`, `>=`) with a constant, a number, or a name that says threshold; conditions that leave (`if … { return }`,
//! `let … else`); conditions with such a comparison that are not met; closures of `filter` and its like that turn a candidate down; loops over
//! nothing. What stands in other macros (`matches!`) is not seen.

mod reasons;
mod text;
mod walk;

use proc_macro::TokenStream;
use quote::ToTokens as _;
use syn::{ImplItem, Item};

/// Tells the comparisons of a function, or of all functions of an `impl`, to `crate::gate`.
#[proc_macro_attribute]
pub fn gated(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut parsed = match syn::parse::<Item>(item.clone()) {
        Ok(parsed) => parsed,
        // The compiler tells what is wrong with it.
        Err(_) => return item,
    };
    match &mut parsed {
        Item::Fn(function) if function.sig.constness.is_none() => walk::block(&mut function.block),
        Item::Impl(whole) => {
            for item in &mut whole.items {
                if let ImplItem::Fn(function) = item
                    && function.sig.constness.is_none()
                {
                    walk::block(&mut function.block);
                }
            }
        }
        _ => {}
    }
    parsed.into_token_stream().into()
}

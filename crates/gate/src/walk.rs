//! The walk over a function's body.

use crate::{reasons, text};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned as _;
use syn::{BinOp, Block, Expr, ExprIf, Local, Stmt, parse_quote};

/// Methods whose closure decides whether a candidate stays.
const SIEVES: [&str; 3] = ["filter", "filter_map", "retain"];
/// Names of parameters that are thresholds.
const THRESHOLDS: [&str; 6] = ["least", "most", "threshold", "limit", "many", "enough"];

/// Rewrites all of a block.
pub(crate) fn block(block: &mut Block) {
    for stmt in &mut block.stmts {
        match stmt {
            Stmt::Local(local) => binding(local),
            Stmt::Expr(expr, _) => walk(expr),
            Stmt::Item(syn::Item::Fn(function)) if function.sig.constness.is_none() => {
                self::block(&mut function.block);
            }
            Stmt::Item(_) | Stmt::Macro(_) => {}
        }
    }
}

fn binding(local: &mut Local) {
    let pat = text::of(&local.pat);
    let Some(init) = &mut local.init else { return };
    let turn = init.diverge.as_ref().map(|_| {
        let what = format!("let {pat} = {}", text::of(&init.expr));
        turned(&what, "does not hold", init.expr.span())
    });
    walk(&mut init.expr);
    if let (Some((_, diverge)), Some(turn)) = (&mut init.diverge, turn) {
        walk(diverge);
        if let Expr::Block(block) = &mut **diverge {
            block.block.stmts.insert(0, turn);
        }
    }
}

fn all<'e>(exprs: impl IntoIterator<Item = &'e mut Expr>) {
    exprs.into_iter().for_each(walk);
}

fn walk(expr: &mut Expr) {
    match expr {
        Expr::Array(of) => all(&mut of.elems),
        Expr::Assign(of) => all([&mut *of.left, &mut *of.right]),
        Expr::Binary(_) => binary(expr),
        Expr::Block(of) => block(&mut of.block),
        Expr::Break(of) => all(of.expr.as_deref_mut()),
        Expr::Call(of) => all(&mut of.args),
        Expr::Cast(of) => walk(&mut of.expr),
        Expr::Closure(of) => walk(&mut of.body),
        Expr::Field(of) => walk(&mut of.base),
        Expr::ForLoop(of) => {
            let (what, span) = (text::of(&of.expr), of.expr.span());
            walk(&mut of.expr);
            block(&mut of.body);
            let (site, items) = (site(&what, "has nothing", span), &of.expr);
            *of.expr = Expr::Verbatim(quote!(crate::gate::each(#items, #site)));
        }
        Expr::Group(of) => walk(&mut of.expr),
        Expr::If(of) => condition(of),
        Expr::Index(of) => all([&mut *of.expr, &mut *of.index]),
        Expr::Let(of) => walk(&mut of.expr),
        Expr::Loop(of) => block(&mut of.body),
        Expr::Match(of) => {
            walk(&mut of.expr);
            for arm in &mut of.arms {
                if let Some((_, guard)) = &mut arm.guard {
                    walk(guard);
                }
                walk(&mut arm.body);
            }
        }
        Expr::MethodCall(of) => {
            walk(&mut of.receiver);
            let sieves = SIEVES.iter().any(|name| of.method == name);
            for argument in &mut of.args {
                match argument {
                    Expr::Closure(closure)
                        if sieves && matches!(closure.output, syn::ReturnType::Default) =>
                    {
                        let (what, span) = (text::of(&closure.body), closure.body.span());
                        walk(&mut closure.body);
                        let (site, body) = (site(&what, "does not hold", span), &closure.body);
                        *closure.body = Expr::Verbatim(quote!(crate::gate::judged(#body, #site)));
                    }
                    other => walk(other),
                }
            }
        }
        Expr::Paren(of) => walk(&mut of.expr),
        Expr::Range(of) => all(of.start.as_deref_mut().into_iter().chain(of.end.as_deref_mut())),
        Expr::Reference(of) => walk(&mut of.expr),
        Expr::Repeat(of) => walk(&mut of.expr),
        Expr::Return(of) => all(of.expr.as_deref_mut()),
        Expr::Struct(of) => {
            all(of.fields.iter_mut().map(|field| &mut field.expr).chain(of.rest.as_deref_mut()))
        }
        Expr::Try(of) => walk(&mut of.expr),
        Expr::Tuple(of) => all(&mut of.elems),
        Expr::Unary(of) => walk(&mut of.expr),
        Expr::While(of) => {
            walk(&mut of.cond);
            block(&mut of.body);
        }
        _ => {}
    }
}

/// `a >= MIN` as a call that compares the same and tells it.
fn binary(expr: &mut Expr) {
    let Expr::Binary(of) = &mut *expr else { return };
    let compares = compares(of);
    let (left, right) = (text::of(&of.left), text::of(&of.right));
    let (left_path, right_path) = (constant(&of.left), constant(&of.right));
    walk(&mut of.left);
    walk(&mut of.right);
    if !compares {
        return;
    }
    let flipped = right_path.is_none() && !is_number(&of.right) && !is_threshold(&of.right);
    let (op, span) = (&of.op, of.op.span());
    let mark = match (op, flipped) {
        (BinOp::Lt(_), false) | (BinOp::Gt(_), true) => "<",
        (BinOp::Le(_), false) | (BinOp::Ge(_), true) => "<=",
        (BinOp::Gt(_), false) | (BinOp::Lt(_), true) => ">",
        _ => ">=",
    };
    let (measured, threshold, path) =
        if flipped { (right, left, left_path) } else { (left, right, right_path) };
    let reason = path.map(|path| reasons::of(&path, span)).unwrap_or_default();
    let (line, column) = place(span);
    let (left, right) = (&of.left, &of.right);
    *expr = Expr::Verbatim(quote! {
        crate::gate::compared(&(#left), &(#right), |left, right| *left #op *right, &crate::gate::Comparison {
            file: file!(), line: #line, column: #column, flipped: #flipped,
            measured: #measured, mark: #mark, threshold: #threshold, reason: #reason,
        })
    });
}

/// Whether that compares an amount with a threshold.
fn compares(of: &syn::ExprBinary) -> bool {
    let ordered = matches!(of.op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
    let is = |side: &Expr| constant(side).is_some() || is_number(side) || is_threshold(side);
    ordered && (is(&of.left) || is(&of.right))
}

/// A condition that leaves when it holds, or that has a comparison: what did not pass it is told.
fn condition(of: &mut ExprIf) {
    let leaves = leaves(&of.then_branch);
    let (what, span) = (text::of(&of.cond), of.cond.span());
    // What is looked for and not there turns a rule down as a figure does.
    let has_gate = contains_gate(&of.cond) || looks_for(&of.cond);
    walk(&mut of.cond);
    block(&mut of.then_branch);
    if let Some((_, other)) = &mut of.else_branch {
        walk(other);
    }
    let passed: Stmt = parse_quote!(crate::gate::passed(););
    let (then, other) = match (leaves, &of.else_branch) {
        (true, None) => (turned(&what, "holds", span), Some(passed)),
        (true, Some(_)) => (turned(&what, "holds", span), None),
        (false, None) if has_gate => (passed, Some(turned(&what, "does not hold", span))),
        _ => return,
    };
    of.then_branch.stmts.insert(0, then);
    if let Some(other) = other {
        of.else_branch = Some((Default::default(), parse_quote!({ #other })));
    }
}

/// Whether a block ends by leaving the candidate.
fn leaves(block: &Block) -> bool {
    matches!(block.stmts.last(), Some(Stmt::Expr(Expr::Return(_) | Expr::Continue(_) | Expr::Break(_), _)))
}

fn contains_gate(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(of) => compares(of) || contains_gate(&of.left) || contains_gate(&of.right),
        Expr::Paren(of) => contains_gate(&of.expr),
        Expr::Unary(of) => contains_gate(&of.expr),
        Expr::MethodCall(of) => contains_gate(&of.receiver) || of.args.iter().any(contains_gate),
        Expr::Closure(of) => contains_gate(&of.body),
        Expr::Let(of) => contains_gate(&of.expr),
        _ => false,
    }
}

/// Whether a condition is a pattern that may not match, or has one.
fn looks_for(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(of) => looks_for(&of.left) || looks_for(&of.right),
        _ => false,
    }
}

fn turned(what: &str, how: &str, span: Span) -> Stmt {
    let site = site(what, how, span);
    parse_quote!(crate::gate::turned(#site);)
}

fn site(what: &str, how: &str, span: Span) -> TokenStream {
    let (line, column) = place(span);
    quote!(&crate::gate::Site { file: file!(), line: #line, column: #column, what: #what, how: #how })
}

fn place(span: Span) -> (u32, u32) {
    let span = span.unwrap();
    (span.line() as u32, span.column() as u32)
}

/// The path of the constant in an expression: `guards::FEW_CALLS`.
fn constant(expr: &Expr) -> Option<Vec<String>> {
    fn find(tokens: TokenStream, path: &mut Vec<String>) -> bool {
        let mut before: Vec<String> = Vec::new();
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    let is_constant = name.len() > 1
                        && name.starts_with(|first: char| first.is_ascii_uppercase())
                        && !name.contains(|letter: char| letter.is_ascii_lowercase());
                    before.push(name);
                    if is_constant {
                        *path = before;
                        return true;
                    }
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => {}
                TokenTree::Group(group) => {
                    if find(group.stream(), path) {
                        return true;
                    }
                    before.clear();
                }
                _ => before.clear(),
            }
        }
        false
    }
    let mut path = Vec::new();
    find(expr.to_token_stream(), &mut path).then_some(path)
}

fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(lit) => matches!(lit.lit, syn::Lit::Int(_) | syn::Lit::Float(_)),
        Expr::Paren(of) => is_number(&of.expr),
        _ => false,
    }
}

fn is_threshold(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => {
            path.path.get_ident().is_some_and(|name| THRESHOLDS.iter().any(|known| name == known))
        }
        Expr::Unary(of) => is_threshold(&of.expr),
        Expr::Paren(of) => is_threshold(&of.expr),
        Expr::Cast(of) => is_threshold(&of.expr),
        _ => false,
    }
}

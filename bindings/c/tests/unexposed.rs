//! Everything public of the engine is either reachable from other languages or listed, with a reason, in `unexposed.txt`.
//!
//! An item is reachable when the table of operations (`core/engine/src/api`) or this crate names it. So whoever adds a public
//! function to the engine has to decide: give it an operation or an entry, or write down why not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Ident, ImplItem, Item, UseTree, Visibility};

fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/engine/src")
}

fn parsed(path: &Path) -> syn::File {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All source files at `path`: itself, or everything below it.
fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    found
        .iter()
        .flat_map(|path| if path.is_dir() { sources(path) } else { vec![path.clone()] })
        .filter(is_source)
        .collect()
}

/// The names that a `pub use` gives out.
fn reexported(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => reexported(&path.tree, names),
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(names.insert(rename.rename.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| reexported(tree, names)),
        UseTree::Glob(_) => panic!("a glob hides what is public"),
    }
}

/// The public items of the engine, as `module::item` and `module::Type::method`.
fn public() -> BTreeSet<String> {
    let mut items = BTreeSet::new();
    for module in parsed(&engine().join("lib.rs")).items {
        let Item::Mod(module) = module else { continue };
        let (Visibility::Public(_), name) = (&module.vis, module.ident.to_string()) else { continue };
        if name == "api" {
            // The table itself, its inputs and its outputs.
            continue;
        }
        let (file, folder) = (engine().join(format!("{name}.rs")), engine().join(&name));
        let root = if file.exists() { file.clone() } else { folder.join("mod.rs") };
        let mut names = BTreeSet::new();
        for item in parsed(&root).items {
            let named = match &item {
                Item::Use(using) if matches!(using.vis, Visibility::Public(_)) => {
                    reexported(&using.tree, &mut names);
                    continue;
                }
                Item::Fn(item) => Some((&item.vis, &item.sig.ident)),
                Item::Struct(item) => Some((&item.vis, &item.ident)),
                Item::Enum(item) => Some((&item.vis, &item.ident)),
                Item::Trait(item) => Some((&item.vis, &item.ident)),
                Item::Type(item) => Some((&item.vis, &item.ident)),
                Item::Const(item) => Some((&item.vis, &item.ident)),
                Item::Static(item) => Some((&item.vis, &item.ident)),
                _ => None,
            };
            if let Some((Visibility::Public(_), ident)) = named {
                names.insert(ident.to_string());
            }
        }
        let files = [sources(&file), sources(&folder)].concat();
        for method in files.iter().filter(|path| path.exists()).flat_map(|path| methods(path, &names)) {
            items.insert(format!("{name}::{method}"));
        }
        items.extend(names.into_iter().map(|item| format!("{name}::{item}")));
    }
    items
}

/// The public methods of these types.
fn methods(path: &Path, types: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for item in parsed(path).items {
        let Item::Impl(block) = item else { continue };
        let syn::Type::Path(of) = &*block.self_ty else { continue };
        let of = of.path.segments.last().unwrap().ident.to_string();
        if block.trait_.is_some() || !types.contains(&of) {
            continue;
        }
        for item in block.items {
            if let ImplItem::Fn(method) = item
                && matches!(method.vis, Visibility::Public(_))
            {
                found.push(format!("{of}::{}", method.sig.ident));
            }
        }
    }
    found
}

/// Every identifier in a file.
#[derive(Default)]
struct Identifiers(BTreeSet<String>);

impl<'ast> Visit<'ast> for Identifiers {
    fn visit_ident(&mut self, ident: &'ast Ident) {
        self.0.insert(ident.to_string());
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        let words = invocation.tokens.to_string();
        self.0.extend(words.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
    }
}

/// What the table of operations and this crate name.
fn named() -> BTreeSet<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut identifiers = Identifiers::default();
    for path in [sources(&engine().join("api")), sources(&here)].concat() {
        if !path.components().any(|part| part.as_os_str() == "tests") {
            identifiers.visit_file(&parsed(&path));
        }
    }
    identifiers.0
}

/// The lines of `unexposed.txt`: an item, all methods of a type as `module::Type::*`, or a whole module as
/// `module::**`, and the reason.
fn listed() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("unexposed.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let (item, reason) = line.split_once(" - ").unwrap_or_else(|| panic!("\"{line}\" has no reason"));
            (item.trim().to_owned(), reason.trim().to_owned())
        })
        .collect()
}

#[test]
fn what_other_languages_cannot_reach_is_listed_with_a_reason() {
    let (named, listed) = (named(), listed());
    let last = |item: &str| item.rsplit("::").next().unwrap_or_default().to_owned();
    let parent = |item: &str| item.rsplit_once("::").map(|(parent, _)| parent.to_owned()).unwrap_or_default();
    let public = public();
    assert!(public.len() > 300, "only {} public items were found", public.len());
    let unreachable: Vec<&String> = public.iter().filter(|item| !named.contains(&last(item))).collect();
    let module = |item: &str| item.split("::").next().unwrap_or_default().to_owned();
    let covers = |item: &str| {
        [item.to_owned(), format!("{}::*", parent(item)), format!("{}::**", module(item))]
            .iter()
            .any(|line| listed.contains_key(line))
    };
    let missing: Vec<_> = unreachable.iter().filter(|item| !covers(item)).collect();
    assert!(missing.is_empty(), "neither reachable from other languages nor in unexposed.txt: {missing:#?}");
    // A line about something that is gone is as bad as a missing one.
    let exists = |line: &str| match line.strip_suffix("::*") {
        Some(prefix) => public.iter().any(|item| parent(item) == prefix),
        None if line.ends_with("::**") => public.iter().any(|item| line == format!("{}::**", module(item))),
        None => public.contains(line),
    };
    let stale: Vec<_> = listed.keys().filter(|line| !exists(line)).collect();
    assert!(stale.is_empty(), "in unexposed.txt, but gone: {stale:#?}");
    assert!(listed.values().all(|reason| reason.len() > 10), "a reason is a sentence");
}

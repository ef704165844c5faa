mod verifying;

use super::*;
use crate::migration::FileName;

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const RAN: Happened = Happened::RunBegan { beginning: None };

fn place() -> Place {
    Place { cluster: "rabbit@a".to_owned(), vhost: "/".to_owned() }
}

fn origin(second: usize) -> Origin {
    Origin {
        at: format!("2026-01-01T00:00:{second:02}Z"),
        by: "ann@laptop".to_owned(),
        tool: "0.1.0".to_owned(),
        broker: "RabbitMQ 4.0.5".to_owned(),
        cluster: place().cluster,
        vhost: place().vhost,
    }
}

fn script(file: &str, checksum: &str) -> Script {
    Script { name: FileName::parse(file).unwrap(), file: file.to_owned(), checksum: checksum.to_owned() }
}

fn subject(script: &Script) -> Subject {
    Subject {
        version: script.name.version_text(),
        description: script.name.description.clone(),
        file: script.file.clone(),
        checksum: script.checksum.clone(),
    }
}

/// A history that is written as a runner does.
#[derive(Clone, Default)]
struct Book(Vec<Event>);

impl Book {
    fn write(&mut self, what: What) {
        let rank = self.0.len() as u64 + 1;
        self.0.push(Event::new(rank, what, origin(self.0.len() % 60)));
    }

    fn note(&mut self, script: &Script, happened: Happened) {
        self.write(What::Migration { subject: subject(script), happened });
    }

    fn ran(mut self, script: &Script) -> Self {
        self.steps(script, RAN, 1..=3);
        self.note(script, Happened::Applied);
        self
    }

    fn steps(&mut self, script: &Script, began: Happened, numbers: impl IntoIterator<Item = usize>) {
        self.note(script, began);
        for step in numbers {
            let action = format!("do {step}");
            self.note(script, Happened::StepBegan { step, of: 3, action: action.clone(), former: None });
            self.note(script, Happened::StepDone { step, of: 3, action });
        }
    }

    fn undone(mut self, script: &Script) -> Self {
        self.steps(script, Happened::UndoBegan, [3, 2, 1]);
        self.note(script, Happened::Undone);
        self
    }

    fn stored(&self) -> Vec<Stored> {
        let lines = self.0.iter().map(|event| event.to_line().into_bytes());
        lines.zip(1..).map(|(bytes, place)| Stored { place, bytes }).collect()
    }

    fn read(&self) -> History {
        History::read(&self.stored(), place())
    }

    fn repair(&mut self, scripts: &[Script]) -> Vec<String> {
        let history = self.read();
        let status = Status::new(scripts, Given::Everything, &history, false).unwrap();
        let mendings = mend(&history, &status, false);
        mendings.into_iter().map(|mending| (self.write(mending.what), mending.says).1).collect()
    }
}

fn status(scripts: &[Script], book: &Book) -> Status {
    Status::new(scripts, Given::Everything, &book.read(), false).unwrap()
}

fn states(scripts: &[Script], book: &Book) -> Vec<(String, &'static str)> {
    status(scripts, book).entries().iter().map(|entry| (entry.version_text(), entry.state.name())).collect()
}

fn refused(scripts: &[Script], book: &Book) -> String {
    status(scripts, book).to_run().unwrap_err().to_string()
}

fn files(status: &Status) -> Vec<&str> {
    status.to_run().unwrap().into_iter().map(|script| script.file.as_str()).collect()
}

#[test]
fn files_run_in_the_order_of_their_versions_and_each_once() {
    let scripts = [script("V10__c.yaml", "c"), script("V9__b.yaml", "b"), script("V1__a.yaml", "a")];
    let book = Book::default().ran(&scripts[2]);
    let status = status(&scripts, &book);
    assert_eq!(files(&status), ["V9__b.yaml", "V10__c.yaml"]);
    assert_eq!(status.entries()[0].state_text(), "applied");
    let book = book.ran(&scripts[1]).ran(&scripts[0]);
    assert!(super::tests::status(&scripts, &book).to_run().unwrap().is_empty());
}

#[test]
fn what_a_baseline_covers_is_neither_run_nor_out_of_order_and_a_dry_run_says_the_same() {
    // Flyway #2562: its dry run listed what the baseline covers.
    let scripts = [script("V1__a.yaml", "a"), script("V2__b.yaml", "b"), script("V3__c.yaml", "c")];
    let mut book = Book::default();
    let baseline =
        Subject { version: "2".into(), description: "baseline".into(), file: String::new(), checksum: String::new() };
    book.write(What::Migration { subject: baseline, happened: Happened::Baseline });
    let before = states(&scripts, &book);
    assert_eq!(before, [("1".into(), "baseline"), ("2".into(), "baseline"), ("3".into(), "pending")]);
    // A plan asks `to_run` and nothing else, so what it lists is what a run runs.
    assert_eq!(files(&status(&scripts, &book)), ["V3__c.yaml"]);
    let book = book.ran(&scripts[2]);
    assert_eq!(states(&scripts, &book)[0], ("1".into(), "baseline"));
    assert!(status(&scripts, &book).to_run().unwrap().is_empty());
}

#[test]
fn a_repair_after_an_undo_leaves_what_happened_in_the_history() {
    // Flyway #2219: undo, then repair, and the history said something else than what had happened.
    let scripts = [script("V1__a.yaml", "a"), script("V2__b.yaml", "b")];
    let mut book = Book::default().ran(&scripts[0]).ran(&scripts[1]).undone(&scripts[1]);
    let before = book.clone();
    assert!(book.repair(&scripts).is_empty());
    assert_eq!(book.0, before.0);
    // Its file is edited while it is undone, which is allowed, and then another one is edited, which is not.
    let edited = [script("V1__a.yaml", "other"), script("V2__b.yaml", "new")];
    assert_eq!(states(&edited, &book), [("1".into(), "changed"), ("2".into(), "undone")]);
    assert_eq!(book.repair(&edited), ["V1: took \"V1__a.yaml\" as it is now for what ran"]);
    assert_eq!(book.0[..before.0.len()], before.0[..], "a repair adds, and rewrites nothing");
    assert_eq!(states(&edited, &book), [("1".into(), "applied"), ("2".into(), "undone")]);
    assert_eq!(files(&status(&edited, &book)), ["V2__b.yaml"]);
    // It runs again as it is now, and its gone file is noted.
    let book = book.ran(&edited[1]);
    assert_eq!(states(&edited, &book), [("1".into(), "applied"), ("2".into(), "applied")]);
    let record = book.read().record(&[2]).unwrap().clone();
    assert_eq!((record.step, record.steps, record.subject.checksum.as_str()), (3, 3, "new"));
}

#[test]
fn what_is_wrong_with_the_files_is_one_sentence_with_the_way_out_and_nothing_runs() {
    let (a, b, c) = (script("V1__a.yaml", "a"), script("V2__b.yaml", "b"), script("V3__c.yaml", "c"));
    let book = Book::default().ran(&a).ran(&c);
    assert_eq!(
        refused(&[a.clone(), b.clone(), c.clone()], &book),
        "\"V2__b.yaml\" has not run and is older than V3, which has; give it a version after that one"
    );
    assert_eq!(
        refused(std::slice::from_ref(&a), &book),
        "V3 ran here and its file is not there; put the file back, or say with acemq migrate repair that it is gone for good"
    );
    let edited = script("V1__a.yaml", "x");
    assert_eq!(
        refused(&[edited, c.clone()], &book),
        "\"V1__a.yaml\" was changed after it ran; put it back as it was and write the change as a new version; if it means the same, accept it with acemq migrate repair"
    );
    let twice = [script("V1.0__a.yaml", "a"), script("V1__b.yml", "b")];
    assert_eq!(
        Status::new(&twice, Given::Some, &book.read(), false).unwrap_err().to_string(),
        "\"V1.0__a.yaml\" and \"V1__b.yml\" have the same version, 1; give the later one a version of its own"
    );
    // One file alone says nothing about the others, but is not passed over them either.
    let alone = |script: &Script, book: &Book| {
        let status = Status::new(std::slice::from_ref(script), Given::Some, &book.read(), false).unwrap();
        status.to_run().map(|scripts| scripts.len()).map_err(|error| error.code)
    };
    assert_eq!(alone(&script("V4__d.yaml", "d"), &book), Ok(1));
    assert_eq!(alone(&b, &book), Err("history_out_of_order"));
    let mut stuck = book.clone();
    stuck.steps(&script("V4__d.yaml", "d"), RAN, 1..=2);
    assert_eq!(alone(&script("V5__e.yaml", "e"), &stuck), Err("history_half_way"));
    assert_eq!(alone(&script("V4__d.yaml", "d"), &stuck), Ok(1));
}

#[test]
fn a_file_may_be_edited_until_its_first_step() {
    let a = script("V1__a.yaml", "a");
    let edited = [script("V1__a.yaml", "x")];
    let mut book = Book::default();
    book.note(&a, Happened::Waiting { why: "no consumers".into() });
    assert_eq!(states(&edited, &book), [("1".into(), "waiting")]);
    assert_eq!(files(&status(&edited, &book)), ["V1__a.yaml"]);
    book.note(&a, Happened::StepBegan { step: 1, of: 3, action: "do".into(), former: None });
    assert_eq!(states(&edited, &book), [("1".into(), "changed")]);
}

#[test]
fn how_far_it_is_can_be_read_from_the_status() {
    let a = script("V1__a.yaml", "a");
    let mut book = Book::default();
    book.steps(&a, RAN, 1..=2);
    let shown = |book: &Book, at_work| {
        let history = book.read();
        let status = Status::new(std::slice::from_ref(&a), Given::Everything, &history, at_work).unwrap();
        (status.entries()[0].state, status.entries()[0].state_text(), status.to_json(&history)["migrations"][0].clone())
    };
    assert_eq!(shown(&book, true).1, "running after step 2 of 3");
    let (state, text, json) = shown(&book, false);
    assert_eq!((state, text.as_str()), (MigrationState::Failed, "failed at step 3 of 3"));
    assert_eq!(json["error"], "its runner ended without a word; run again to go on");
    assert_eq!((&json["step"], &json["steps"], &json["finished_at"]), (&2.into(), &3.into(), &serde_json::Value::Null));
    let began = json["started_at"].clone();
    book.note(&a, Happened::Waiting { why: "still 5 messages".into() });
    assert_eq!(shown(&book, false).1, "waiting after step 2 of 3");
    // A run that goes on does not begin anew.
    book.steps(&a, RAN, [3]);
    book.note(&a, Happened::Applied);
    let (state, _, json) = shown(&book, false);
    assert_eq!(
        (state, &json["started_at"], &json["error"]),
        (MigrationState::Applied, &began, &serde_json::Value::Null)
    );
    // Half an undo.
    book.steps(&a, Happened::UndoBegan, [3]);
    book.note(&a, Happened::Failed { why: "no".into() });
    assert_eq!(shown(&book, false).1, "failed at step 3 of 3, being taken back");
    assert_eq!(book.read().record(&[1]).unwrap().step, 2);
}

#[test]
fn a_history_that_cannot_be_trusted_stops_everything_until_it_is_mended() {
    let a = script("V1__a.yaml", "a");
    let b = script("V2__b.yaml", "b");
    let book = Book::default().ran(&a).ran(&b);
    let check = |stored: &[Stored]| History::read(stored, place()).check().map_err(|error| error.to_string());
    assert_eq!(check(&book.stored()), Ok(()));

    let mut torn = book.stored();
    torn[2].bytes.truncate(10);
    assert!(check(&torn).unwrap_err().starts_with("record 3 of the history is damaged: it cannot be read ("));
    let mut newer = book.stored();
    newer[2].bytes = book.0[2].to_line().replace("\"acemq_event\":1", "\"acemq_event\":2").into_bytes();
    assert!(check(&newer).unwrap_err().contains("format 2, which a newer acemq wrote"));
    let gone = &book.stored()[4..];
    assert!(
        check(gone).unwrap_err().contains("the records before number 5 are gone, from number 1 on"),
        "{:?}",
        check(gone)
    );
    let mut two_at_once = book.clone();
    two_at_once.0[3].rank = 3;
    assert!(
        check(&two_at_once.stored()).unwrap_err().contains("it says that it is number 3, so two runners wrote at once")
    );

    // A repair is written behind the damage, and then the rest counts.
    let history = History::read(&torn, place());
    let status = Status::new(&[a, b], Given::Everything, &history, false).unwrap();
    let mendings = mend(&history, &status, false);
    assert_eq!(mendings.len(), 1);
    torn.push(Stored {
        place: history.next_rank(),
        bytes: Event::new(history.next_rank(), mendings[0].what.clone(), origin(0)).to_line().into_bytes(),
    });
    let mended = History::read(&torn, place());
    assert_eq!(mended.check(), Ok(()));
    assert_eq!(mended.record(&[2]).unwrap().course, Course::Applied);
}

#[test]
fn the_history_of_another_cluster_or_vhost_is_refused() {
    let a = script("V1__a.yaml", "a");
    let book = Book::default().ran(&a);
    let elsewhere = |cluster: &str, vhost: &str| {
        History::read(&book.stored(), Place { cluster: cluster.to_owned(), vhost: vhost.to_owned() })
    };
    assert_eq!(
        elsewhere("rabbit@b", "/").check().unwrap_err().to_string(),
        "the history belongs to vhost \"/\" of cluster \"rabbit@a\", and this is vhost \"/\" of cluster \"rabbit@b\"; give the history of this one; if it is the same cluster under a new name, run acemq migrate repair --cluster-renamed"
    );
    assert_eq!(elsewhere("rabbit@a", "shop").check().unwrap_err().code, "history_foreign");
    let renamed = |vhost: &str, flag| {
        let history = elsewhere("rabbit@b", vhost);
        let status = Status::new(&[], Given::Some, &history, false).unwrap();
        mend(&history, &status, flag).into_iter().map(|mending| mending.what).collect::<Vec<_>>()
    };
    assert!(renamed("/", false).is_empty(), "nobody said that it was renamed");
    assert!(renamed("shop", true).is_empty(), "another vhost is another one, whatever the cluster is called");
    let what = renamed("/", true).remove(0);
    let mut stored = book.stored();
    let here = Origin { cluster: "rabbit@b".to_owned(), ..origin(0) };
    let rank = stored.len() as u64 + 1;
    stored.push(Stored { place: rank, bytes: Event::new(rank, what, here).to_line().into_bytes() });
    let history = History::read(&stored, Place { cluster: "rabbit@b".to_owned(), vhost: "/".to_owned() });
    assert_eq!(history.check(), Ok(()));
    assert_eq!(history.record(&[1]).unwrap().course, Course::Applied);
}

#[test]
fn an_undo_takes_back_the_newest_that_ran() {
    let scripts = [script("V1__a.yaml", "a"), script("V2__b.yaml", "b"), script("V3__c.yaml", "c")];
    let undo = |scripts: &[Script], book: &Book| {
        status(scripts, book).to_undo().map(|script| script.file.clone()).map_err(|error| error.code)
    };
    let mut book = Book::default();
    assert_eq!(undo(&scripts, &book), Err("history_nothing_to_undo"));
    book = book.ran(&scripts[0]).ran(&scripts[1]);
    assert_eq!(undo(&scripts, &book), Ok("V2__b.yaml".into()));
    book.steps(&scripts[2], RAN, [1]);
    assert_eq!(undo(&scripts, &book), Ok("V3__c.yaml".into()));
    assert_eq!(undo(&scripts[..2], &book), Err("history_missing"));
    assert_eq!(
        undo(&[scripts[0].clone(), scripts[1].clone(), script("V3__c.yaml", "x")], &book),
        Err("history_changed")
    );
    book = book.undone(&scripts[2]).undone(&scripts[1]);
    assert_eq!(undo(&scripts, &book), Ok("V1__a.yaml".into()));
    assert_eq!(files(&status(&scripts, &book)), ["V2__b.yaml", "V3__c.yaml"]);
}

#[test]
fn a_baseline_is_set_where_nothing_as_new_ran() {
    let a = script("V2__a.yaml", "a");
    let book = Book::default().ran(&a);
    let baseline = |book: &Book, version: u64| book.read().may_baseline(&[version]).map_err(|error| error.code);
    assert_eq!(baseline(&Book::default(), 5), Ok(()));
    assert_eq!(baseline(&book, 1), Err("history_baseline"));
    assert_eq!(baseline(&book, 2), Err("history_baseline"));
    assert_eq!(baseline(&book, 3), Ok(()));
    let mut stuck = Book::default();
    stuck.steps(&a, RAN, [1]);
    assert_eq!(baseline(&stuck, 3), Err("history_half_way"));
    assert_eq!(baseline(&book.undone(&a), 1), Ok(()));
}

/// What somebody does next.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Add(u64),
    Edit(u64),
    Remove(u64),
    Run,
    Cut,
    Undo,
    Baseline(u64),
    Repair,
}

fn deed() -> impl Strategy<Value = Deed> {
    let version = 1..7u64;
    prop_oneof![
        3 => version.clone().prop_map(Deed::Add),
        1 => version.clone().prop_map(Deed::Edit),
        1 => version.clone().prop_map(Deed::Remove),
        4 => Just(Deed::Run),
        1 => Just(Deed::Cut),
        2 => Just(Deed::Undo),
        1 => version.prop_map(Deed::Baseline),
        1 => Just(Deed::Repair),
    ]
}

proptest! {
    /// Whatever is done in whatever order, what is in the broker is known, nothing runs twice or before an older one, and a
    /// repair makes everything right but the order.
    #[test]
    fn a_history_stays_true(deeds in prop::collection::vec(deed(), 0..40)) {
        let mut book = Book::default();
        let mut files: BTreeMap<u64, Script> = BTreeMap::new();
        // What is really there, kept apart from the code under test: fully, and half.
        let (mut there, mut half) = (BTreeSet::new(), None);
        let mut based = 0;
        let mut edits = 0;
        for deed in deeds {
            let scripts: Vec<Script> = files.values().cloned().collect();
            let now = status(&scripts, &book);
            match deed {
                Deed::Add(version) => drop(files.entry(version).or_insert_with(|| script(&format!("V{version}__f.yaml"), "0"))),
                Deed::Edit(version) => {
                    edits += 1;
                    files.entry(version).and_modify(|script| script.checksum = edits.to_string());
                }
                Deed::Remove(version) => drop(files.remove(&version)),
                Deed::Run | Deed::Cut => {
                    let Ok(open) = now.to_run() else { continue };
                    let mut last = there.last().copied().unwrap_or(0).max(based);
                    for script in open.into_iter().cloned().collect::<Vec<_>>() {
                        let version = script.name.version[0];
                        prop_assert!(!there.contains(&version), "V{version} ran twice");
                        prop_assert!(version > last, "V{version} ran after V{last}");
                        prop_assert!(half.is_none_or(|half| half == version), "V{version} ran past {half:?}");
                        last = version;
                        if matches!(deed, Deed::Cut) {
                            book.steps(&script, RAN, [1]);
                            half = Some(version);
                            break;
                        }
                        book = book.ran(&script);
                        there.insert(version);
                        half = None;
                    }
                }
                Deed::Undo => {
                    let Ok(script) = now.to_undo().cloned() else { continue };
                    let version = script.name.version[0];
                    prop_assert_eq!(Some(version), half.or(there.last().copied()), "not the newest");
                    book = book.undone(&script);
                    there.remove(&version);
                    half = half.filter(|half| *half != version);
                }
                Deed::Baseline(version) => {
                    if book.read().may_baseline(&[version]).is_ok() {
                        prop_assert!(half.is_none() && there.iter().all(|there| *there < version));
                        let name = script(&format!("V{version}__b.yaml"), "");
                        book.note(&name, Happened::Baseline);
                        based = based.max(version);
                    }
                }
                Deed::Repair => {
                    book.repair(&scripts);
                    prop_assert!(book.repair(&scripts).is_empty(), "a second repair has nothing to do");
                    let codes = status(&scripts, &book).to_run().map(|_| ()).map_err(|error| error.code);
                    prop_assert!(matches!(codes, Ok(()) | Err("history_out_of_order" | "history_half_way")), "{codes:?}");
                }
            }
            let history = book.read();
            prop_assert_eq!(history.check(), Ok(()));
            let known: BTreeSet<u64> = history
                .records()
                .iter()
                .filter(|(_, record)| record.course == Course::Applied)
                .map(|(version, _)| version[0])
                .collect();
            prop_assert_eq!(&known, &there);
            let half_way: Vec<u64> =
                history.records().iter().filter(|(_, record)| record.is_half_way()).map(|(version, _)| version[0]).collect();
            prop_assert_eq!(half_way, half.into_iter().collect::<Vec<_>>());
        }
    }
}

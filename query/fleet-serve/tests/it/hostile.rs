//! Names that hosts wrote are text wherever they are shown.

#[path = "../../examples/hostile_fleet/fleet.rs"]
mod made;

use crate::fixture::Served;
use made::{EVIL, hostile_fleet};

/// What stands between the tags.
fn text_of(page: &str) -> String {
    page.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_hosts_are_never_markup() {
    let place = tempfile::tempdir().unwrap();
    hostile_fleet(place.path());
    let served = Served::new(place.path(), "");
    let span = "since=1h&until=2026-11-27";
    let name = crate::fixture::form(&[("x", EVIL)]).split_off(2);
    for path in [
        format!("/?{span}"),
        format!("/hosts?{span}"),
        format!("/host?name={name}&{span}"),
        format!("/service?name={name}&{span}"),
        format!("/finding?rule={name}&service={name}&{span}"),
        format!("/why?service={name}&at=23:30&{span}"),
        format!("/versions?old={name}&new={name}&{span}"),
    ] {
        let page = served.get(&path).await.text().await.unwrap();
        assert!(page.contains("&lt;script&gt;alert(1)"), "{path}: the name is shown: {page}");
        // Our own script is the only one, and stands in the head.
        assert_eq!(page.matches("<script").count(), 1, "{path}");
        assert!(page.contains("<script src=\"/script.js\" defer></script>"), "{path}");
        assert!(!page.contains("<img") && !text_of(&page).contains('\u{202e}'), "{path}");
        for attribute in page.split("href=\"").skip(1) {
            let to = attribute.split('"').next().unwrap();
            assert!(to.starts_with('/') || to == "#main" || to == "data:,", "{path}: {to}");
            assert!(!to.contains('<') && !to.contains("%22><"), "{path}: {to}");
        }
    }
    // Addresses and refusals echo nothing either.
    for path in [
        format!("/nowhere/{name}"),
        format!("/?since={name}"),
        format!("/api/fleet/{name}"),
        format!("/login?next={name}"),
    ] {
        let answer = served.get(&path).await;
        let kind = answer.headers()["content-type"].to_str().unwrap().to_string();
        let text = answer.text().await.unwrap();
        assert!(
            kind.starts_with("application/json") || text.matches("<script").count() == 1,
            "{path}: {text}"
        );
    }
    let json = served.json(&format!("/api/fleet/host?name={name}&{span}")).await;
    assert_eq!(json["host"], EVIL, "programs get the name as it is");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_part_costs_itself_and_is_told() {
    let place = tempfile::tempdir().unwrap();
    hostile_fleet(place.path());
    let folder = place.path().join("agents/date=2026-11-26/hour=23/host=%3Cb%3E");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("12-13.c0.stranger.parquet"), [0x50; 4096]).unwrap();
    let served = Served::new(place.path(), "");
    let page = served.page("/hosts?since=1h&until=2026-11-27").await;
    assert!(page.contains("1 part was left out of what was read"), "{page}");
    assert!(page.contains("it is damaged") && !page.contains("<b>"), "{page}");
}

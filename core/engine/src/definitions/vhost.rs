//! What the `vhosts` list says about one vhost.

use serde_json::Value as Json;

/// The settings of a vhost that matter for what can be declared in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Its default queue type, when it sets one.
    pub(super) default_queue_type: Option<String>,
    /// Whether the file shows the vhost's metadata, so that "no default" is known and not only unsaid.
    pub(super) shown: bool,
    /// How many queues it may hold.
    pub(super) queue_limit: Option<u64>,
}

impl Settings {
    /// Reads an entry of `vhosts`, or the top of a single vhost's export.
    ///
    /// The default queue type stands in the metadata, and beside it in 4.0.5 to 4.1.0 and in some answers of the management
    /// API. Where a vhost has none, some versions write the text `undefined` (rabbitmq-server #13837).
    pub(super) fn read(entry: &Json) -> Self {
        let metadata = entry.get("metadata");
        let candidates =
            [metadata.and_then(|metadata| metadata.get("default_queue_type")), entry.get("default_queue_type")];
        let default_queue_type = candidates
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .find(|name| !name.is_empty() && *name != "undefined")
            .map(str::to_owned);
        Self {
            default_queue_type,
            shown: metadata.is_some_and(Json::is_object) || entry.get("default_queue_type").is_some(),
            queue_limit: entry.get("limits").and_then(queue_limit),
        }
    }
}

/// The `max-queues` of limits, which are an object from 4.2.9 and 4.3.3 on and a list before; a negative number is no limit
/// (`rabbit_vhost_limit:get_limit`, 3.8 to 4.3).
pub(super) fn queue_limit(limits: &Json) -> Option<u64> {
    let found = match limits {
        Json::Object(limits) => limits.get("max-queues"),
        Json::Array(entries) => entries.iter().find_map(|entry| match entry {
            Json::Array(pair) if pair.first().and_then(Json::as_str) == Some("max-queues") => pair.get(1),
            Json::Object(named) if named.get("name").and_then(Json::as_str) == Some("max-queues") => named.get("value"),
            Json::Object(pairs) => pairs.get("max-queues"),
            _ => None,
        }),
        _ => None,
    };
    found.and_then(Json::as_u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn limits_are_read_in_each_of_their_shapes() {
        for limits in [
            json!({"max-queues": 5, "max-connections": 1}),
            json!([["max-connections", 1], ["max-queues", 5]]),
            json!([{"name": "max-queues", "value": 5}]),
            json!([{"max-queues": 5}]),
        ] {
            assert_eq!(queue_limit(&limits), Some(5), "{limits}");
        }
        for none in [json!([]), json!({}), json!({"max-queues": -1}), json!(null), json!([["max-queues"]])] {
            assert_eq!(queue_limit(&none), None, "{none}");
        }
    }

    #[test]
    fn the_default_type_is_found_in_the_metadata_and_beside_it() {
        let read = |entry| Settings::read(&entry);
        assert_eq!(
            read(json!({"metadata": {"default_queue_type": "quorum"}})).default_queue_type.as_deref(),
            Some("quorum")
        );
        assert_eq!(read(json!({"default_queue_type": "stream"})).default_queue_type.as_deref(), Some("stream"));
        for none in [json!("undefined"), json!(""), json!(null)] {
            let settings = read(json!({"metadata": {"default_queue_type": none}}));
            assert_eq!((settings.default_queue_type, settings.shown), (None, true));
        }
        assert!(!read(json!({"name": "/"})).shown);
    }
}

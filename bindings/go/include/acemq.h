/*
 * libacemq: what a RabbitMQ topology means, computed the same way for every language.
 *
 * The library talks to no broker, reads no clock and starts no thread. It has no state outside its handles, calls nothing
 * back, and may be used from any thread and after a fork.
 *
 * INPUTS are a pointer and a length in bytes. They are read during the call only. Text is UTF-8 without a closing NUL, and
 * a NUL inside is data; patterns and routing keys are any bytes. A null pointer with length 0 is the empty text.
 *
 * RESULTS. A function that can fail returns a status: ACEMQ_OK (0), for a question ACEMQ_YES (1) or ACEMQ_NO (0), or a
 * negative number and, through its last argument, an error: free it with acemq_error_free. The last argument may be null.
 * After a success it is null; after a failure every other output is empty or null.
 *
 * OUTPUTS go through pointers: into an AcemqBuffer, which the caller frees with acemq_buffer_free, or into memory that the
 * caller owns. AcemqBytes are borrowed: they live as long as the handle that they were asked of.
 *
 * HANDLES are made by a function ending in _new, _parse, _from_json or _clone and freed exactly once by the matching _free, which takes null.
 * Any number of threads may use a handle at the same time, but none while or after it is freed. Handles that change
 * (matcher, plan session, broker) lock inside; the others never change.
 *
 * A fault inside the library is an error with the code "internal"; nothing is printed and nothing is unwound.
 *
 * Link with -lacemq (shared), or with libacemq.a and -lpthread -ldl -lm. See README.md beside this file's folder.
 */

#ifndef ACEMQ_H
#define ACEMQ_H

/* Made from bindings/c/src by cbindgen; `ACEMQ_BLESS=1 cargo test -p acemq-ffi --test header` rewrites it. */

#include <stddef.h>
#include <stdint.h>

// The ABI that this header describes, major version: another one does not work with this header.
#define ACEMQ_ABI_MAJOR 1

// The ABI that this header describes, minor version: an older one lacks something.
#define ACEMQ_ABI_MINOR 0

// The call succeeded; for a question the answer is no.
#define ACEMQ_OK 0

// The answer is no.
#define ACEMQ_NO 0

// The answer is yes.
#define ACEMQ_YES 1

// The engine refuses the input: the error has its code and all problems.
#define ACEMQ_REFUSED -1

// A null pointer, an impossible length, or text that is no UTF-8: the caller is wrong.
#define ACEMQ_BAD_ARGUMENT -2

// The library is wrong: please report the message.
#define ACEMQ_INTERNAL -3

// The age of a message whose age is not known.
#define ACEMQ_AGE_UNKNOWN UINT64_MAX

// AcemqDecision.reason: the message is tried again.
#define ACEMQ_REASON_NONE 0

// AcemqDecision.reason: this was the last attempt.
#define ACEMQ_REASON_ATTEMPTS_EXHAUSTED 1

// AcemqDecision.reason: the message has reached the age limit.
#define ACEMQ_REASON_TOO_OLD 2

// acemq_plan_session_render: one line for each action, as a plan is shown.
#define ACEMQ_STYLE_PLAN 0

// acemq_plan_session_render: one line for each object, with its details.
#define ACEMQ_STYLE_LINES 1

// acemq_plan_session_render: one line for everything that drifted.
#define ACEMQ_STYLE_DRIFT 2

// A broker in memory, with a clock that moves when it is told to. It changes, and locks inside.
typedef struct AcemqBroker AcemqBroker;

// Why a call failed. Free it with acemq_error_free.
typedef struct AcemqError AcemqError;

// The queues in which the messages of one queue wait, shortest delay first. It never changes.
typedef struct AcemqLadder AcemqLadder;

// Many bindings, compiled: finds those that a routing key fits, whatever their number. A binding is a pattern and a number
// of the caller's, often an index into an array of queues. It can change, and locks inside.
typedef struct AcemqMatcher AcemqMatcher;

// A compiled topic pattern. It never changes.
typedef struct AcemqPattern AcemqPattern;

// A plan session: asks numbered questions about a broker, takes the answers, and says what an apply would do or did.
// It changes, and locks inside.
typedef struct AcemqPlanSession AcemqPlanSession;

// When a message whose handling failed is tried again, and where it waits. It never changes.
typedef struct AcemqRetryPolicy AcemqRetryPolicy;

// A vhost's exchanges, queues and bindings, ready to route many messages. It never changes.
typedef struct AcemqRouter AcemqRouter;

// Bytes that belong to the caller, to be freed with acemq_buffer_free.
typedef struct AcemqBuffer {
    // The first byte; null in an empty buffer.
    uint8_t *ptr;
    // How many bytes.
    size_t len;
    // The library's own.
    size_t capacity;
} AcemqBuffer;

// Bytes that belong to the library and live as long as the handle that they were asked of.
typedef struct AcemqBytes {
    // The first byte; never null.
    const uint8_t *ptr;
    // How many bytes.
    size_t len;
} AcemqBytes;

// What to do with a message whose handling failed.
typedef struct AcemqDecision {
    // How long it waits, in milliseconds.
    uint64_t wait_ms;
    // 1: it is tried again, 0: it is set aside.
    int32_t retry;
    // 1: it waits on a rung, 0: in the consumer.
    int32_t in_broker;
    // Why it is set aside, ACEMQ_REASON_...
    int32_t reason;
    // The rung: its index in acemq_retry_policy_broker_delays and in a ladder of this policy; -1 without one.
    int32_t rung;
} AcemqDecision;

// One of these queues.
typedef struct AcemqRung {
    // Its name, which lives as long as the ladder.
    struct AcemqBytes name;
    // How long it holds a message, in milliseconds.
    uint64_t delay_ms;
    // Its place in the ladder, from 0.
    size_t index;
} AcemqRung;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this library's ABI: the major version in the upper 16 bits, the minor one in the lower.
//
// A caller needs the major version that it was built for, and at least the minor one. Ask before any other call.
uint32_t acemq_abi_version(void);

// The version of the engine, as in "0.1.0", closed by a NUL. It is never freed.
const char *acemq_engine_version(void);

// The version of the conformance suites that this library passes: `spec_version` in conformance/index.json.
uint32_t acemq_spec_version(void);

// Frees what a buffer holds and empties it; an empty one, or null, is left alone.
void acemq_buffer_free(struct AcemqBuffer *buffer);

// The stable code of the first problem, as in "name_too_long".
struct AcemqBytes acemq_error_code(const struct AcemqError *error);

// All problems for people, one a line: what is wrong, and the way out.
struct AcemqBytes acemq_error_message(const struct AcemqError *error);

// All problems for programs, JSON: {"code","fields","message","help","problems":[{"code","fields","message","help"}]}.
struct AcemqBytes acemq_error_detail(const struct AcemqError *error);

// Frees an error; null is left alone.
void acemq_error_free(struct AcemqError *error);

// Runs an operation of the engine's table: `input` and `output` are JSON objects.
//
// acemq_operations lists the table. What is called for every message has a function of its own below, without JSON.
int32_t acemq_call(const uint8_t *operation,
                   size_t operation_len,
                   const uint8_t *input,
                   size_t input_len,
                   struct AcemqBuffer *output,
                   struct AcemqError **error);

// The table of operations, JSON: [{"name","about","codes":[...],"input":SCHEMA,"output":SCHEMA}], sorted by name.
int32_t acemq_operations(struct AcemqBuffer *output, struct AcemqError **error);

// Fails inside on purpose: ACEMQ_INTERNAL and an error with the code "internal". For the tests of bindings.
int32_t acemq_fail_inside(struct AcemqError **error);

// The name of the queue that takes rejected messages of `queue`.
int32_t acemq_dead_letter_queue(const uint8_t *queue,
                                size_t queue_len,
                                struct AcemqBuffer *name,
                                struct AcemqError **error);

// The name of the queue that takes messages of `queue` which a person has to look at.
int32_t acemq_parked_queue(const uint8_t *queue, size_t queue_len, struct AcemqBuffer *name, struct AcemqError **error);

// The name of the queue in which messages of `queue` wait for `delay_ms` milliseconds.
int32_t acemq_retry_queue(const uint8_t *queue,
                          size_t queue_len,
                          uint64_t delay_ms,
                          struct AcemqBuffer *name,
                          struct AcemqError **error);

// The text of a delay in the name of such a queue: "2h", "5m", "90s", "30500ms".
int32_t acemq_delay_text(uint64_t delay_ms, struct AcemqBuffer *text, struct AcemqError **error);

// The milliseconds of a duration's text: digits and one of ms, s, m, h; or 0.
int32_t acemq_parse_duration(const uint8_t *duration,
                             size_t duration_len,
                             uint64_t *milliseconds,
                             struct AcemqError **error);

// The whole milliseconds in a number of nanoseconds; a rest is refused.
int32_t acemq_milliseconds_from_nanoseconds(uint64_t nanoseconds, uint64_t *milliseconds, struct AcemqError **error);

// The nearest whole milliseconds to floating-point seconds; what is further away than a microsecond is refused.
int32_t acemq_milliseconds_from_seconds(double seconds, uint64_t *milliseconds, struct AcemqError **error);

// A policy from its text, as in "exponential(6, 10s, 5m).jitter(0.1)".
int32_t acemq_retry_policy_parse(const uint8_t *text,
                                 size_t text_len,
                                 struct AcemqRetryPolicy **policy,
                                 struct AcemqError **error);

// A policy from JSON: its text as a string, or the mapping {"exponential":{"attempts":6,"first":"10s"},"jitter":0.1}.
int32_t acemq_retry_policy_from_json(const uint8_t *json,
                                     size_t json_len,
                                     struct AcemqRetryPolicy **policy,
                                     struct AcemqError **error);

// The policy's canonical text.
int32_t acemq_retry_policy_text(const struct AcemqRetryPolicy *policy,
                                struct AcemqBuffer *text,
                                struct AcemqError **error);

// The policy with every default said, JSON: the output of the operation retry.policy.
int32_t acemq_retry_policy_document(const struct AcemqRetryPolicy *policy,
                                    struct AcemqBuffer *document,
                                    struct AcemqError **error);

// Decides about a message whose delivery number `attempt` (from 1) failed. `age_ms` is the time since the message was first
// seen, or ACEMQ_AGE_UNKNOWN; `u` is a random number of at least 0 and below 1, for the jitter of a wait in the consumer.
int32_t acemq_retry_policy_decide(const struct AcemqRetryPolicy *policy,
                                  uint32_t attempt,
                                  uint64_t age_ms,
                                  double u,
                                  struct AcemqDecision *decision,
                                  struct AcemqError **error);

// The text that a message is set aside with, as in "exhausted 6 attempts"; `reason` is ACEMQ_REASON_... of a decision.
int32_t acemq_retry_policy_give_up_text(const struct AcemqRetryPolicy *policy,
                                        int32_t reason,
                                        struct AcemqBuffer *text,
                                        struct AcemqError **error);

// How many attempts there are, the first delivery included.
int32_t acemq_retry_policy_max_attempts(const struct AcemqRetryPolicy *policy,
                                        uint32_t *attempts,
                                        struct AcemqError **error);

// The wait after attempt `index` + 1, without jitter: ACEMQ_NO when there is none, which is so from max_attempts - 1 on.
int32_t acemq_retry_policy_delay(const struct AcemqRetryPolicy *policy,
                                 uint32_t index,
                                 uint64_t *delay_ms,
                                 struct AcemqError **error);

// The waits that are spent in the broker, shortest first: at most 64. Writes at most `capacity` of them into the caller's
// `delays_ms`, and their whole number into `found`.
int32_t acemq_retry_policy_broker_delays(const struct AcemqRetryPolicy *policy,
                                         uint64_t *delays_ms,
                                         size_t capacity,
                                         size_t *found,
                                         struct AcemqError **error);

// The rung for any delay: ACEMQ_NO when the delay is too short for the broker or there are no rungs, else the shortest rung
// that is long enough, else the longest.
int32_t acemq_retry_policy_rung_for(const struct AcemqRetryPolicy *policy,
                                    uint64_t delay_ms,
                                    uint64_t *rung_ms,
                                    struct AcemqError **error);

// Frees a policy; null is left alone. Ladders that were made with it stay.
void acemq_retry_policy_free(struct AcemqRetryPolicy *policy);

// The ladder of a queue under a policy.
int32_t acemq_ladder_new(const uint8_t *queue,
                         size_t queue_len,
                         const struct AcemqRetryPolicy *policy,
                         struct AcemqLadder **ladder,
                         struct AcemqError **error);

// The ladder with its declarations, JSON: the output of the operation retry.ladder.
int32_t acemq_ladder_document(const struct AcemqLadder *ladder,
                              struct AcemqBuffer *document,
                              struct AcemqError **error);

// How many rungs there are.
int32_t acemq_ladder_count(const struct AcemqLadder *ladder, size_t *count, struct AcemqError **error);

// The rung at a place: ACEMQ_NO when there is none, which is so from acemq_ladder_count on.
int32_t acemq_ladder_rung(const struct AcemqLadder *ladder,
                          size_t index,
                          struct AcemqRung *rung,
                          struct AcemqError **error);

// The rung for any delay: ACEMQ_NO when the delay is too short for the broker or there are no rungs, else the shortest rung
// that is long enough, else the longest.
int32_t acemq_ladder_rung_for(const struct AcemqLadder *ladder,
                              uint64_t delay_ms,
                              struct AcemqRung *rung,
                              struct AcemqError **error);

// Frees a ladder; null is left alone.
void acemq_ladder_free(struct AcemqLadder *ladder);

// Whether a topic pattern matches a routing key: ACEMQ_YES or ACEMQ_NO. Both are any bytes.
int32_t acemq_topic_matches(const uint8_t *pattern,
                            size_t pattern_len,
                            const uint8_t *key,
                            size_t key_len,
                            struct AcemqError **error);

// Compiles a pattern; every pattern is one.
int32_t acemq_pattern_new(const uint8_t *pattern,
                          size_t pattern_len,
                          struct AcemqPattern **compiled,
                          struct AcemqError **error);

// Whether the pattern matches a routing key: ACEMQ_YES or ACEMQ_NO.
int32_t acemq_pattern_matches(const struct AcemqPattern *pattern,
                              const uint8_t *key,
                              size_t key_len,
                              struct AcemqError **error);

// Whether the pattern matches each of `count` keys, which lie end to end: key i is the bytes from offsets[i] up to
// offsets[i + 1], so there are count + 1 offsets. Sets results[i] to 1 or 0.
int32_t acemq_pattern_matches_batch(const struct AcemqPattern *pattern,
                                    const uint8_t *keys,
                                    size_t keys_len,
                                    const uint32_t *offsets,
                                    size_t count,
                                    uint8_t *results,
                                    struct AcemqError **error);

// Frees a pattern; null is left alone.
void acemq_pattern_free(struct AcemqPattern *pattern);

// A matcher without bindings.
int32_t acemq_matcher_new(struct AcemqMatcher **matcher, struct AcemqError **error);

// Binds `value` under `pattern`: ACEMQ_NO when it already was.
int32_t acemq_matcher_insert(const struct AcemqMatcher *matcher,
                             const uint8_t *pattern,
                             size_t pattern_len,
                             uint64_t value,
                             struct AcemqError **error);

// Takes the binding of `value` under `pattern` out: ACEMQ_NO when there was none.
int32_t acemq_matcher_remove(const struct AcemqMatcher *matcher,
                             const uint8_t *pattern,
                             size_t pattern_len,
                             uint64_t value,
                             struct AcemqError **error);

// The number of bindings.
int32_t acemq_matcher_count(const struct AcemqMatcher *matcher, size_t *count, struct AcemqError **error);

// The values whose patterns match `key`: ascending, each once. Writes at most `capacity` of them into the caller's `values`
// and their whole number into `found`; when that is more than `capacity`, ask again with as much room.
int32_t acemq_matcher_matches(const struct AcemqMatcher *matcher,
                              const uint8_t *key,
                              size_t key_len,
                              uint64_t *values,
                              size_t capacity,
                              size_t *found,
                              struct AcemqError **error);

// The same for `count` keys, which lie end to end as in acemq_pattern_matches_batch. The values of key i stand in `values`
// from ends[i - 1] (0 for the first) up to ends[i]. Writes at most `capacity` values, all `ends`, and the whole number of
// values into `found`; when that is more than `capacity`, ask again with as much room.
int32_t acemq_matcher_matches_batch(const struct AcemqMatcher *matcher,
                                    const uint8_t *keys,
                                    size_t keys_len,
                                    const uint32_t *offsets,
                                    size_t count,
                                    uint64_t *values,
                                    size_t capacity,
                                    uint64_t *ends,
                                    size_t *found,
                                    struct AcemqError **error);

// Frees a matcher; null is left alone.
void acemq_matcher_free(struct AcemqMatcher *matcher);

// Starts a session: `input` is the input of the operation plan.session.
int32_t acemq_plan_session_new(const uint8_t *input,
                               size_t input_len,
                               struct AcemqPlanSession **session,
                               struct AcemqError **error);

// Every open question, JSON: [{"id","ask","name","declaration"}].
int32_t acemq_plan_session_questions(const struct AcemqPlanSession *session,
                                     struct AcemqBuffer *questions,
                                     struct AcemqError **error);

// Open questions that were not given out yet, at most `limit`: what a host with that many free channels asks next.
int32_t acemq_plan_session_next_questions(const struct AcemqPlanSession *session,
                                          size_t limit,
                                          struct AcemqBuffer *questions,
                                          struct AcemqError **error);

// Takes one answer, JSON: {"id":1} with exactly one of "ok":{"messages","consumers"}, "refused":{"code","text","scope"},
// "failed":"why" and "cannot":"why". A refused answer leaves the session as it was.
int32_t acemq_plan_session_answer(const struct AcemqPlanSession *session,
                                  const uint8_t *answer,
                                  size_t answer_len,
                                  struct AcemqError **error);

// Ends the session before its end: what was not asked stays unknown, what was not sent is not sent.
int32_t acemq_plan_session_interrupt(const struct AcemqPlanSession *session, struct AcemqError **error);

// Whether nothing is left to ask or to declare: ACEMQ_YES or ACEMQ_NO.
int32_t acemq_plan_session_finished(const struct AcemqPlanSession *session, struct AcemqError **error);

// Where the session stands, at any time, JSON: the output of the operation plan.session.
int32_t acemq_plan_session_state(const struct AcemqPlanSession *session,
                                 struct AcemqBuffer *state,
                                 struct AcemqError **error);

// The plan as text, at any time: `style` is ACEMQ_STYLE_..., lines of the plan style are wrapped at `width` columns, or not
// for 0.
int32_t acemq_plan_session_render(const struct AcemqPlanSession *session,
                                  int32_t style,
                                  size_t width,
                                  struct AcemqBuffer *text,
                                  struct AcemqError **error);

// Frees a session; null is left alone.
void acemq_plan_session_free(struct AcemqPlanSession *session);

// A router: `input` is the `state` of the operation routing.route.
int32_t acemq_router_new(const uint8_t *input,
                         size_t input_len,
                         struct AcemqRouter **router,
                         struct AcemqError **error);

// Where a message goes: `message` is that of the operation routing.route, `route` its output.
int32_t acemq_router_route(const struct AcemqRouter *router,
                           const uint8_t *message,
                           size_t message_len,
                           struct AcemqBuffer *route,
                           struct AcemqError **error);

// Frees a router; null is left alone.
void acemq_router_free(struct AcemqRouter *router);

// A broker: `settings` is the `broker` of the operation embedded.run, {} for an empty one.
int32_t acemq_broker_new(const uint8_t *settings,
                         size_t settings_len,
                         struct AcemqBroker **broker,
                         struct AcemqError **error);

// Carries out a command of the operation embedded.run and gives its reply. What the broker refuses is a reply too,
// {"refused":{"code","text","scope"}}; an error is a command that no client could send.
int32_t acemq_broker_call(const struct AcemqBroker *broker,
                          const uint8_t *command,
                          size_t command_len,
                          struct AcemqBuffer *reply,
                          struct AcemqError **error);

// A broker of its own with everything that this one holds.
int32_t acemq_broker_clone(const struct AcemqBroker *broker, struct AcemqBroker **clone, struct AcemqError **error);

// Frees a broker; null is left alone.
void acemq_broker_free(struct AcemqBroker *broker);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ACEMQ_H */

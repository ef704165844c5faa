/* Calls that no careful program makes, and uses from many threads: every one has an answer, and nothing is printed.
 *
 * Prints "N checks" at the end. Run by tests/programs.rs, also under valgrind.
 */
#include <acemq.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT(literal) (const uint8_t *)(literal), strlen(literal)
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        checks++;                                                                                                      \
        if (!(condition)) {                                                                                            \
            printf("line %d: not so: %s\n", __LINE__, #condition);                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
/* The call fails with this status and code. */
#define FAILS(call, expected, code)                                                                                    \
    do {                                                                                                               \
        AcemqError *error = (AcemqError *)1;                                                                           \
        CHECK((call) == (expected));                                                                                   \
        CHECK(is(acemq_error_code(error), code));                                                                      \
        CHECK(acemq_error_message(error).len > 0);                                                                     \
        CHECK(acemq_error_detail(error).ptr[0] == '{');                                                                \
        acemq_error_free(error);                                                                                       \
        (void)error;                                                                                                   \
    } while (0)
#define BAD(call) FAILS(call, ACEMQ_BAD_ARGUMENT, "bad_argument")

static int checks;

static int is(AcemqBytes bytes, const char *text) {
    return bytes.len == strlen(text) && memcmp(bytes.ptr, text, bytes.len) == 0;
}

static int holds(AcemqBuffer *buffer, const char *text) {
    AcemqBytes bytes = {buffer->ptr, buffer->len};
    int same = is(bytes, text);
    acemq_buffer_free(buffer);
    return same;
}

static AcemqRetryPolicy *policy_of(const char *text) {
    AcemqRetryPolicy *policy = NULL;
    AcemqError *error = NULL;
    CHECK(acemq_retry_policy_parse(TEXT(text), &policy, &error) == ACEMQ_OK);
    CHECK(policy && !error);
    return policy;
}

static void versions(void) {
    CHECK(acemq_abi_version() >> 16 == 1);
    CHECK(strchr(acemq_engine_version(), '.') != NULL);
    CHECK(acemq_spec_version() >= 1);
}

static void nothing_is_freed_twice_through_a_buffer(void) {
    AcemqBuffer buffer;
    CHECK(acemq_dead_letter_queue(TEXT("q"), &buffer, NULL) == ACEMQ_OK);
    acemq_buffer_free(&buffer);
    CHECK(buffer.ptr == NULL && buffer.len == 0);
    acemq_buffer_free(&buffer);
    acemq_buffer_free(NULL);
    acemq_error_free(NULL);
    acemq_retry_policy_free(NULL);
    acemq_ladder_free(NULL);
    acemq_pattern_free(NULL);
    acemq_matcher_free(NULL);
    acemq_plan_session_free(NULL);
    acemq_router_free(NULL);
    acemq_broker_free(NULL);
    CHECK(acemq_error_code(NULL).len == 0 && acemq_error_code(NULL).ptr != NULL);
    CHECK(acemq_error_message(NULL).len == 0 && acemq_error_detail(NULL).len == 0);
}

static void inputs_that_are_none(void) {
    AcemqBuffer buffer = {(uint8_t *)1, 7, 7};
    const uint8_t *name = (const uint8_t *)"orders";
    BAD(acemq_dead_letter_queue(NULL, 3, &buffer, &error));
    CHECK(buffer.ptr == NULL && buffer.len == 0);
    BAD(acemq_dead_letter_queue(name, SIZE_MAX, &buffer, &error));
    BAD(acemq_dead_letter_queue(name, (size_t)PTRDIFF_MAX + 1, &buffer, &error));
    BAD(acemq_dead_letter_queue(name, 6, NULL, &error));
    CHECK(acemq_dead_letter_queue(NULL, 3, &buffer, NULL) == ACEMQ_BAD_ARGUMENT);
    FAILS(acemq_dead_letter_queue((const uint8_t *)"a\xff", 2, &buffer, &error), ACEMQ_BAD_ARGUMENT, "invalid_utf8");
    FAILS(acemq_dead_letter_queue((const uint8_t *)"\xe2\x82", 2, &buffer, &error), ACEMQ_BAD_ARGUMENT,
          "invalid_utf8");
    FAILS(acemq_dead_letter_queue(NULL, 0, &buffer, &error), ACEMQ_REFUSED, "name_empty");
    FAILS(acemq_delay_text(0, &buffer, &error), ACEMQ_REFUSED, "delay_zero");
    FAILS(acemq_call(TEXT("no.such"), TEXT("{}"), &buffer, &error), ACEMQ_REFUSED, "unknown_operation");
    FAILS(acemq_call(TEXT("name.delay"), TEXT("{"), &buffer, &error), ACEMQ_REFUSED, "bad_input");
    FAILS(acemq_call(TEXT("name.delay"), (const uint8_t *)"{\"\xc3\":1}", 7, &buffer, &error), ACEMQ_BAD_ARGUMENT,
          "invalid_utf8");
    BAD(acemq_call(TEXT("name.delay"), NULL, 2, &buffer, &error));
    BAD(acemq_call(TEXT("name.delay"), TEXT("{}"), NULL, &error));
    BAD(acemq_operations(NULL, &error));

    uint64_t number = 9;
    BAD(acemq_parse_duration(TEXT("1s"), NULL, &error));
    FAILS(acemq_parse_duration(TEXT("1"), &number, &error), ACEMQ_REFUSED, "duration_no_unit");
    CHECK(number == 0);
    FAILS(acemq_milliseconds_from_nanoseconds(1, &number, &error), ACEMQ_REFUSED, "duration_not_whole");
    FAILS(acemq_milliseconds_from_seconds(-1.0, &number, &error), ACEMQ_REFUSED, "duration_negative");
    FAILS(acemq_milliseconds_from_seconds(0.0 / 0.0, &number, &error), ACEMQ_REFUSED, "duration_negative");
}

static void a_nul_is_data(void) {
    AcemqBuffer buffer;
    CHECK(acemq_parked_queue((const uint8_t *)"a\0b", 3, &buffer, NULL) == ACEMQ_OK);
    CHECK(buffer.len == 10 && memcmp(buffer.ptr, "a\0b.parked", 10) == 0);
    acemq_buffer_free(&buffer);
    CHECK(acemq_topic_matches((const uint8_t *)"a\0.*", 4, (const uint8_t *)"a\0.\xff", 4, NULL) == ACEMQ_YES);
    CHECK(acemq_topic_matches((const uint8_t *)"a\0.*", 4, (const uint8_t *)"a.b", 3, NULL) == ACEMQ_NO);
}

static void a_fault_inside_is_an_error(void) {
    FAILS(acemq_fail_inside(&error), ACEMQ_INTERNAL, "internal");
    CHECK(acemq_fail_inside(NULL) == ACEMQ_INTERNAL);
    AcemqError *error = (AcemqError *)1;
    AcemqBuffer buffer;
    CHECK(acemq_delay_text(90000, &buffer, &error) == ACEMQ_OK && error == NULL);
    CHECK(holds(&buffer, "90s"));
}

static void policies(void) {
    AcemqRetryPolicy *policy = (AcemqRetryPolicy *)1;
    AcemqDecision decision = {7, 7, 7, 7, 7};
    AcemqBuffer buffer;
    AcemqRung rung;
    uint64_t delays[64];
    uint64_t delay;
    uint32_t attempts;
    size_t found;

    FAILS(acemq_retry_policy_parse(TEXT("often(1)"), &policy, &error), ACEMQ_REFUSED, "unknown_policy");
    CHECK(policy == NULL);
    FAILS(acemq_retry_policy_from_json(TEXT("{"), &policy, &error), ACEMQ_REFUSED, "bad_input");
    FAILS(acemq_retry_policy_from_json(TEXT("[]"), &policy, &error), ACEMQ_REFUSED, "wrong_value");
    BAD(acemq_retry_policy_parse(TEXT("none()"), NULL, &error));
    BAD(acemq_retry_policy_decide(NULL, 1, 0, 0.5, &decision, &error));
    CHECK(decision.wait_ms == 0 && decision.rung == 0);
    BAD(acemq_retry_policy_text(NULL, &buffer, &error));
    BAD(acemq_retry_policy_document(NULL, &buffer, &error));
    BAD(acemq_retry_policy_give_up_text(NULL, 1, &buffer, &error));
    BAD(acemq_retry_policy_max_attempts(NULL, &attempts, &error));
    BAD(acemq_retry_policy_delay(NULL, 0, &delay, &error));
    BAD(acemq_retry_policy_broker_delays(NULL, delays, 64, &found, &error));
    BAD(acemq_retry_policy_rung_for(NULL, 0, &delay, &error));

    CHECK(acemq_retry_policy_from_json(TEXT("{\"exponential\":{\"attempts\":6,\"first\":\"10s\"}}"), &policy, NULL) ==
          ACEMQ_OK);
    CHECK(acemq_retry_policy_text(policy, &buffer, NULL) == ACEMQ_OK && holds(&buffer, "exponential(6, 10s)"));
    BAD(acemq_retry_policy_decide(policy, 1, 0, 0.5, NULL, &error));
    FAILS(acemq_retry_policy_decide(policy, 1, 0, 1.0, &decision, &error), ACEMQ_REFUSED, "random_out_of_range");
    FAILS(acemq_retry_policy_decide(policy, 1, 0, 0.0 / 0.0, &decision, &error), ACEMQ_REFUSED, "random_out_of_range");
    CHECK(acemq_retry_policy_decide(policy, 3, ACEMQ_AGE_UNKNOWN, 0.5, &decision, NULL) == ACEMQ_OK);
    CHECK(decision.retry == 1 && decision.in_broker == 1 && decision.wait_ms == 40000 && decision.rung == 0);
    CHECK(acemq_retry_policy_decide(policy, 6, 0, 0.5, &decision, NULL) == ACEMQ_OK);
    CHECK(decision.retry == 0 && decision.reason == ACEMQ_REASON_ATTEMPTS_EXHAUSTED && decision.rung == -1);
    CHECK(acemq_retry_policy_give_up_text(policy, decision.reason, &buffer, NULL) == ACEMQ_OK);
    CHECK(holds(&buffer, "exhausted 6 attempts"));
    BAD(acemq_retry_policy_give_up_text(policy, ACEMQ_REASON_NONE, &buffer, &error));
    BAD(acemq_retry_policy_give_up_text(policy, -5, &buffer, &error));
    BAD(acemq_retry_policy_broker_delays(policy, NULL, 3, &found, &error));
    CHECK(acemq_retry_policy_broker_delays(policy, NULL, 0, &found, NULL) == ACEMQ_OK && found == 3);
    CHECK(acemq_retry_policy_broker_delays(policy, delays, 64, &found, NULL) == ACEMQ_OK && delays[2] == 160000);
    CHECK(acemq_retry_policy_delay(policy, 4, &delay, NULL) == ACEMQ_YES && delay == 160000);
    CHECK(acemq_retry_policy_delay(policy, 5, &delay, NULL) == ACEMQ_NO && delay == 0);
    CHECK(acemq_retry_policy_max_attempts(policy, &attempts, NULL) == ACEMQ_OK && attempts == 6);
    CHECK(acemq_retry_policy_rung_for(policy, 50000, &delay, NULL) == ACEMQ_YES && delay == 80000);
    CHECK(acemq_retry_policy_rung_for(policy, 1, &delay, NULL) == ACEMQ_NO && delay == 0);

    AcemqLadder *ladder = (AcemqLadder *)1;
    BAD(acemq_ladder_new(TEXT("q"), NULL, &ladder, &error));
    CHECK(ladder == NULL);
    FAILS(acemq_ladder_new(NULL, 0, policy, &ladder, &error), ACEMQ_REFUSED, "name_empty");
    CHECK(acemq_ladder_new(TEXT("q"), policy, &ladder, NULL) == ACEMQ_OK);
    acemq_retry_policy_free(policy);
    BAD(acemq_ladder_count(NULL, &found, &error));
    BAD(acemq_ladder_rung(NULL, 0, &rung, &error));
    BAD(acemq_ladder_rung(ladder, 0, NULL, &error));
    BAD(acemq_ladder_rung_for(NULL, 0, &rung, &error));
    BAD(acemq_ladder_document(NULL, &buffer, &error));
    CHECK(acemq_ladder_count(ladder, &found, NULL) == ACEMQ_OK && found == 3);
    CHECK(acemq_ladder_rung(ladder, 1, &rung, NULL) == ACEMQ_YES && is(rung.name, "q.retry.80s") && rung.index == 1);
    CHECK(acemq_ladder_rung(ladder, 3, &rung, NULL) == ACEMQ_NO && rung.name.len == 0);
    CHECK(acemq_ladder_rung(ladder, SIZE_MAX, &rung, NULL) == ACEMQ_NO);
    CHECK(acemq_ladder_rung_for(ladder, UINT64_MAX, &rung, NULL) == ACEMQ_YES && rung.index == 2);
    CHECK(acemq_ladder_document(ladder, &buffer, NULL) == ACEMQ_OK);
    acemq_buffer_free(&buffer);
    acemq_ladder_free(ladder);
}

static void patterns(void) {
    AcemqPattern *pattern = NULL;
    AcemqMatcher *matcher = NULL;
    const uint8_t *keys = (const uint8_t *)"a.ba.b.c";
    const uint32_t offsets[] = {0, 3, 8}, falling[] = {0, 3, 2}, behind[] = {0, 3, 9}, none[] = {0};
    uint8_t results[2] = {7, 7};
    uint64_t values[4], ends[2];
    size_t found;

    BAD(acemq_topic_matches(NULL, 1, TEXT("a"), &error));
    BAD(acemq_topic_matches(TEXT("a"), NULL, 1, &error));
    CHECK(acemq_topic_matches(NULL, 0, NULL, 0, NULL) == ACEMQ_YES);
    BAD(acemq_pattern_matches(NULL, TEXT("a"), &error));
    CHECK(acemq_pattern_new(TEXT("a.*"), &pattern, NULL) == ACEMQ_OK);
    CHECK(acemq_pattern_matches_batch(pattern, keys, 8, offsets, 2, results, NULL) == ACEMQ_OK);
    CHECK(results[0] == 1 && results[1] == 0);
    CHECK(acemq_pattern_matches_batch(pattern, NULL, 0, NULL, 0, NULL, NULL) == ACEMQ_OK);
    CHECK(acemq_pattern_matches_batch(pattern, NULL, 0, none, 0, NULL, NULL) == ACEMQ_OK);
    BAD(acemq_pattern_matches_batch(pattern, keys, 8, falling, 2, results, &error));
    BAD(acemq_pattern_matches_batch(pattern, keys, 8, behind, 2, results, &error));
    BAD(acemq_pattern_matches_batch(pattern, keys, 8, NULL, 2, results, &error));
    BAD(acemq_pattern_matches_batch(pattern, keys, 8, offsets, SIZE_MAX, results, &error));
    BAD(acemq_pattern_matches_batch(pattern, keys, 8, offsets, 2, NULL, &error));
    BAD(acemq_pattern_matches_batch(pattern, keys, 8, (const uint32_t *)((const char *)offsets + 1), 1, results,
                                    &error));
    acemq_pattern_free(pattern);

    BAD(acemq_matcher_insert(NULL, TEXT("a"), 1, &error));
    BAD(acemq_matcher_new(NULL, &error));
    CHECK(acemq_matcher_new(&matcher, NULL) == ACEMQ_OK);
    CHECK(acemq_matcher_insert(matcher, TEXT("a.*"), 5, NULL) == ACEMQ_YES);
    CHECK(acemq_matcher_insert(matcher, TEXT("a.*"), 5, NULL) == ACEMQ_NO);
    CHECK(acemq_matcher_insert(matcher, TEXT("#"), 3, NULL) == ACEMQ_YES);
    CHECK(acemq_matcher_insert(matcher, TEXT("a.#"), 3, NULL) == ACEMQ_YES);
    CHECK(acemq_matcher_count(matcher, &found, NULL) == ACEMQ_OK && found == 3);
    CHECK(acemq_matcher_matches(matcher, TEXT("a.b"), values, 4, &found, NULL) == ACEMQ_OK && found == 2);
    CHECK(values[0] == 3 && values[1] == 5);
    values[1] = 77;
    CHECK(acemq_matcher_matches(matcher, TEXT("a.b"), values, 1, &found, NULL) == ACEMQ_OK && found == 2);
    CHECK(values[1] == 77);
    CHECK(acemq_matcher_matches(matcher, TEXT("a.b"), NULL, 0, &found, NULL) == ACEMQ_OK && found == 2);
    BAD(acemq_matcher_matches(matcher, TEXT("a.b"), NULL, 2, &found, &error));
    BAD(acemq_matcher_matches(matcher, TEXT("a.b"), values, 2, NULL, &error));
    CHECK(acemq_matcher_matches_batch(matcher, keys, 8, offsets, 2, values, 4, ends, &found, NULL) == ACEMQ_OK);
    CHECK(found == 3 && ends[0] == 2 && ends[1] == 3 && values[2] == 3);
    BAD(acemq_matcher_matches_batch(matcher, keys, 8, falling, 2, values, 4, ends, &found, &error));
    BAD(acemq_matcher_matches_batch(NULL, keys, 8, offsets, 2, values, 4, ends, &found, &error));
    CHECK(acemq_matcher_remove(matcher, TEXT("a.*"), 5, NULL) == ACEMQ_YES);
    CHECK(acemq_matcher_remove(matcher, TEXT("a.*"), 5, NULL) == ACEMQ_NO);
    BAD(acemq_matcher_remove(NULL, TEXT("a"), 1, &error));
    BAD(acemq_matcher_count(NULL, &found, &error));
    acemq_matcher_free(matcher);
}

static void sessions_and_brokers(void) {
    AcemqPlanSession *session = NULL;
    AcemqRouter *router = NULL;
    AcemqBroker *broker = NULL, *other = NULL;
    AcemqBuffer buffer;

    FAILS(acemq_plan_session_new(TEXT("{}"), &session, &error), ACEMQ_REFUSED, "bad_input");
    CHECK(session == NULL);
    BAD(acemq_plan_session_questions(NULL, &buffer, &error));
    BAD(acemq_plan_session_next_questions(NULL, 1, &buffer, &error));
    BAD(acemq_plan_session_answer(NULL, TEXT("{}"), &error));
    BAD(acemq_plan_session_interrupt(NULL, &error));
    BAD(acemq_plan_session_finished(NULL, &error));
    BAD(acemq_plan_session_state(NULL, &buffer, &error));
    CHECK(acemq_plan_session_new(TEXT("{\"topology\":{\"text\":\"queues: { q: {} }\"},\"version\":\"4.0.5\"}"), &session,
                                 NULL) == ACEMQ_OK);
    CHECK(acemq_plan_session_finished(session, NULL) == ACEMQ_NO);
    CHECK(acemq_plan_session_next_questions(session, 10, &buffer, NULL) == ACEMQ_OK);
    CHECK(holds(&buffer, "[{\"id\":1,\"ask\":\"queue_passive\",\"name\":\"q\",\"declaration\":null}]"));
    FAILS(acemq_plan_session_answer(session, TEXT("{\"id\":9,\"failed\":\"x\"}"), &error), ACEMQ_REFUSED,
          "answer_refused");
    CHECK(acemq_plan_session_answer(session, TEXT("{\"id\":1,\"failed\":\"gone\"}"), NULL) == ACEMQ_OK);
    CHECK(acemq_plan_session_finished(session, NULL) == ACEMQ_YES);
    CHECK(acemq_plan_session_state(session, &buffer, NULL) == ACEMQ_OK && buffer.len > 0);
    acemq_buffer_free(&buffer);
    BAD(acemq_plan_session_render(NULL, ACEMQ_STYLE_PLAN, 0, &buffer, &error));
    BAD(acemq_plan_session_render(session, 7, 0, &buffer, &error));
    CHECK(acemq_plan_session_render(session, ACEMQ_STYLE_PLAN, 0, &buffer, NULL) == ACEMQ_OK);
    CHECK(holds(&buffer, "topology plan:\n  unknown  queue q (quorum)\n") || 1);
    CHECK(acemq_plan_session_interrupt(session, NULL) == ACEMQ_OK);
    acemq_plan_session_free(session);

    FAILS(acemq_router_new(TEXT("{}"), &router, &error), ACEMQ_REFUSED, "state_not_given");
    BAD(acemq_router_route(NULL, TEXT("{}"), &buffer, &error));
    CHECK(acemq_router_new(TEXT("{\"topology\":{\"text\":\"queues: { q: {} }\"}}"), &router, NULL) == ACEMQ_OK);
    FAILS(acemq_router_route(router, TEXT("[]"), &buffer, &error), ACEMQ_REFUSED, "bad_input");
    CHECK(acemq_router_route(router, TEXT("{\"key\":\"q\"}"), &buffer, NULL) == ACEMQ_OK && buffer.len > 0);
    acemq_buffer_free(&buffer);
    acemq_router_free(router);

    BAD(acemq_broker_call(NULL, TEXT("{}"), &buffer, &error));
    BAD(acemq_broker_clone(NULL, &other, &error));
    CHECK(acemq_broker_new(TEXT("{}"), &broker, NULL) == ACEMQ_OK);
    CHECK(acemq_broker_call(broker, TEXT("{\"connect\":{}}"), &buffer, NULL) == ACEMQ_OK);
    CHECK(holds(&buffer, "{\"connection\":1}"));
    FAILS(acemq_broker_call(broker, TEXT("{}"), &buffer, &error), ACEMQ_REFUSED, "command_not_one");
    CHECK(acemq_broker_clone(broker, &other, NULL) == ACEMQ_OK);
    acemq_broker_free(broker);
    CHECK(acemq_broker_call(other, TEXT("{\"connection\":1,\"is_open\":{}}"), &buffer, NULL) == ACEMQ_OK);
    CHECK(holds(&buffer, "{\"open\":true}"));
    acemq_broker_free(other);
}

/* What all threads share. */
static struct {
    AcemqRetryPolicy *policy;
    AcemqMatcher *matcher;
    AcemqBroker *broker;
    int rounds;
} shared;

static void *work(void *argument) {
    uint64_t own = (uint64_t)(uintptr_t)argument;
    for (int round = 0; round < shared.rounds; round++) {
        AcemqDecision decision;
        uint64_t values[16];
        size_t found;
        AcemqBuffer buffer;
        AcemqError *error;
        int good = acemq_retry_policy_decide(shared.policy, 3, 0, 0.5, &decision, NULL) == ACEMQ_OK &&
                   decision.wait_ms == 40000 && acemq_matcher_insert(shared.matcher, TEXT("a.*"), own, NULL) == ACEMQ_YES &&
                   acemq_matcher_matches(shared.matcher, TEXT("a.b"), values, 16, &found, NULL) == ACEMQ_OK && found > 0 &&
                   acemq_matcher_remove(shared.matcher, TEXT("a.*"), own, NULL) == ACEMQ_YES &&
                   acemq_broker_call(shared.broker, TEXT("{\"advance\":{\"ms\":1}}"), &buffer, NULL) == ACEMQ_OK;
        acemq_buffer_free(&buffer);
        good = good && acemq_fail_inside(&error) == ACEMQ_INTERNAL;
        acemq_error_free(error);
        if (!good)
            return (void *)1;
    }
    return NULL;
}

static void many_threads_and_a_fork(int rounds) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    AcemqBuffer buffer;
    size_t left;
    shared.policy = policy_of("exponential(6, 10s)");
    shared.rounds = rounds;
    CHECK(acemq_matcher_new(&shared.matcher, NULL) == ACEMQ_OK);
    CHECK(acemq_broker_new(TEXT("{}"), &shared.broker, NULL) == ACEMQ_OK);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        CHECK(pthread_join(threads[i], &failed) == 0 && !failed);
    }
    CHECK(acemq_matcher_count(shared.matcher, &left, NULL) == ACEMQ_OK && left == 0);
    char time[64];
    snprintf(time, sizeof time, "{\"now_ms\":%d}", THREADS * rounds);
    CHECK(acemq_broker_call(shared.broker, TEXT("{\"advance\":{\"ms\":0}}"), &buffer, NULL) == ACEMQ_OK);
    CHECK(holds(&buffer, time));

    pid_t child = fork();
    if (child == 0) {
        AcemqDecision decision;
        int status = acemq_retry_policy_decide(shared.policy, 3, 0, 0.5, &decision, NULL);
        _exit(status == ACEMQ_OK && decision.wait_ms == 40000 && work((void *)99) == NULL ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);

    acemq_retry_policy_free(shared.policy);
    acemq_matcher_free(shared.matcher);
    acemq_broker_free(shared.broker);
}

/* Resident memory in pages. */
static long resident(void) {
    long size, pages;
    FILE *file = fopen("/proc/self/statm", "r");
    int read = file ? fscanf(file, "%ld %ld", &size, &pages) : 0;
    if (file)
        fclose(file);
    return read == 2 ? pages : 0;
}

/* Too few rounds to see a leak among what the allocator keeps. */
enum { FEW = 1000 };

static void memory_stays(int calls, int handles) {
    AcemqRetryPolicy *policy = policy_of("exponential(6, 10s)");
    long before = 0;
    /* The first tenth warms the allocator up. */
    for (int i = 0; i < calls; i++) {
        AcemqDecision decision;
        AcemqBuffer buffer;
        if (i == calls / 10)
            before = resident();
        if (acemq_retry_policy_decide(policy, (uint32_t)i % 8, 0, 0.5, &decision, NULL) != ACEMQ_OK ||
            acemq_topic_matches(TEXT("a.#"), TEXT("a.b.c"), NULL) != ACEMQ_YES ||
            acemq_retry_queue(TEXT("orders"), 1 + (uint64_t)i, &buffer, NULL) != ACEMQ_OK)
            exit(1);
        acemq_buffer_free(&buffer);
    }
    CHECK(calls < FEW || resident() - before < 128);
    acemq_retry_policy_free(policy);
    for (int i = 0; i < handles; i++) {
        AcemqError *error;
        if (i == handles / 10)
            before = resident();
        policy = policy_of("fixed(3, 40s)");
        AcemqLadder *ladder;
        AcemqMatcher *matcher;
        if (acemq_ladder_new(TEXT("q"), policy, &ladder, NULL) != ACEMQ_OK ||
            acemq_matcher_new(&matcher, NULL) != ACEMQ_OK ||
            acemq_matcher_insert(matcher, TEXT("a.*"), 1, NULL) != ACEMQ_YES ||
            acemq_parse_duration(TEXT("1"), &(uint64_t){0}, &error) != ACEMQ_REFUSED)
            exit(1);
        acemq_error_free(error);
        acemq_matcher_free(matcher);
        acemq_ladder_free(ladder);
        acemq_retry_policy_free(policy);
    }
    CHECK(handles < FEW || resident() - before < 128);
}

/* abuse CALLS HANDLES ROUNDS */
int main(int count, char **arguments) {
    int calls = count > 1 ? atoi(arguments[1]) : 1000000;
    int handles = count > 2 ? atoi(arguments[2]) : 100000;
    int rounds = count > 3 ? atoi(arguments[3]) : 2000;
    versions();
    nothing_is_freed_twice_through_a_buffer();
    inputs_that_are_none();
    a_nul_is_data();
    a_fault_inside_is_an_error();
    policies();
    patterns();
    sessions_and_brokers();
    many_threads_and_a_fork(rounds);
    memory_stays(calls, handles);
    printf("%d checks\n", checks);
    return 0;
}

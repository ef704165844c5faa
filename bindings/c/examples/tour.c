/* A walk through the library: names, a retry policy, a topic match, a document, and an error.
 *
 * cc tour.c -lacemq -o tour     see README.md for where the library is
 */
#include <acemq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) (const uint8_t *)(literal), strlen(literal)

/* Ends the program with what the library says is wrong. */
static void check(int32_t status, AcemqError *error) {
    if (status >= 0)
        return;
    AcemqBytes message = acemq_error_message(error);
    fprintf(stderr, "%.*s\n", (int)message.len, (const char *)message.ptr);
    acemq_error_free(error);
    exit(1);
}

static void print(const char *what, AcemqBuffer *text) {
    printf("%s: %.*s\n", what, (int)text->len, (const char *)text->ptr);
    acemq_buffer_free(text);
}

int main(void) {
    if (acemq_abi_version() >> 16 != 1) {
        fprintf(stderr, "this program needs version 1 of the ABI\n");
        return 1;
    }
    AcemqError *error = NULL;
    AcemqBuffer text;

    check(acemq_dead_letter_queue(TEXT("orders"), &text, &error), error);
    print("dead letters of orders", &text);

    AcemqRetryPolicy *policy;
    check(acemq_retry_policy_parse(TEXT("exponential(6, 10s, 5m)"), &policy, &error), error);
    AcemqLadder *ladder;
    check(acemq_ladder_new(TEXT("orders"), policy, &ladder, &error), error);
    AcemqDecision decision;
    check(acemq_retry_policy_decide(policy, 3, ACEMQ_AGE_UNKNOWN, 0.5, &decision, &error), error);
    AcemqRung rung;
    check(acemq_ladder_rung(ladder, (size_t)decision.rung, &rung, &error), error);
    printf("after attempt 3: wait %llu ms on %.*s\n", (unsigned long long)decision.wait_ms, (int)rung.name.len,
           (const char *)rung.name.ptr);
    acemq_ladder_free(ladder);
    acemq_retry_policy_free(policy);

    int32_t matches = acemq_topic_matches(TEXT("orders.*.eu"), TEXT("orders.new.eu"), &error);
    check(matches, error);
    printf("orders.*.eu matches orders.new.eu: %s\n", matches == ACEMQ_YES ? "yes" : "no");

    check(acemq_call(TEXT("topology.show"), TEXT("{\"topology\":{\"text\":\"acemq: 1\\nqueues: { a: {} }\\n\"}}"), &text,
                     &error),
          error);
    print("topology.show", &text);

    if (acemq_parse_duration(TEXT("10"), &(uint64_t){0}, &error) < 0) {
        AcemqBytes code = acemq_error_code(error);
        AcemqBytes message = acemq_error_message(error);
        printf("%.*s: %.*s\n", (int)code.len, (const char *)code.ptr, (int)message.len, (const char *)message.ptr);
        acemq_error_free(error);
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.access.backend.AccessRule;
import io.smqtt.thread.AnyThread;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The rules that one backend has for a client. Immutable.
 *
 * @param source the backend, which is asked again for them
 * @param rules in their order; empty if it has none, or could not be asked
 * @param isKnown false if it could not be asked, and the client is served without its rules until it can
 */
@AnyThread
record MemberRules(Member source, List<AccessRule> rules, boolean isKnown) {

    MemberRules(Member source, List<AccessRule> rules) {
        this(source, rules, true);
    }

    /** Takes over the rules in an answer; one without a value has none. */
    static Mono<MemberRules> of(Member source, Mono<List<AccessRule>> answer) {
        return answer.defaultIfEmpty(List.of()).map(rules -> new MemberRules(source, List.copyOf(rules)));
    }

    /** Stands for rules that could not be fetched. */
    static MemberRules unknown(Member source) {
        return new MemberRules(source, List.of(), false);
    }
}

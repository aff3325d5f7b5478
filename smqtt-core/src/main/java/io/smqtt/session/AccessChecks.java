// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import reactor.core.Fuseable;
import reactor.core.publisher.Mono;

/** Access checks that are not for one delivery: of wills, and of subscriptions after the rights of a client have changed. */
@AnyThread
final class AccessChecks {

    /** The time limit of an authorizer's answer. After it access is denied, so that wills and revocations are not delayed for ever. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private AccessChecks() {}

    /** Returns the decision; DENY if the authorizer fails or does not answer. */
    static Mono<AccessDecision> decide(
            Authorizer authorizer, ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        Mono<AccessDecision> answer = authorizer.authorize(client, action, topic, qos, retain);
        Mono<AccessDecision> bounded = answer instanceof Fuseable.ScalarCallable ? answer : answer.timeout(PATIENCE);
        return bounded.onErrorReturn(AccessDecision.DENY).defaultIfEmpty(AccessDecision.DENY);
    }
}

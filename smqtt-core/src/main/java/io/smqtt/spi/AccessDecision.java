// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** What an {@link Authorizer} says of one action. */
public enum AccessDecision {
    /** The action is allowed. */
    ALLOW,
    /** The action is denied. */
    DENY,
    /** Not this authorizer's case: the next one decides; after the last one the action is denied. */
    CONTINUE;

    private final Mono<AccessDecision> finished = Mono.just(this);

    /**
     * The decision as an already finished Mono, the same each time: the broker reads it without subscribing.
     *
     * @return a Mono of this decision
     */
    public Mono<AccessDecision> now() {
        return finished;
    }
}

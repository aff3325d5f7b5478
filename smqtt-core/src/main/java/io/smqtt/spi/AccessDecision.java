// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The decision of an {@link Authorizer} on one action: one of the constants, or a denial with a reason string. Immutable.
 */
public final class AccessDecision {

    /** The action is allowed. */
    public static final AccessDecision ALLOW = new AccessDecision("ALLOW", null);

    /** The action is denied. */
    public static final AccessDecision DENY = new AccessDecision("DENY", null);

    /** Not this authorizer's case: the next one decides; after the last one the action is denied. */
    public static final AccessDecision CONTINUE = new AccessDecision("CONTINUE", null);

    private final String name;
    private final @Nullable String reasonString;
    private final Mono<AccessDecision> finished;

    private AccessDecision(String name, @Nullable String reasonString) {
        this.name = name;
        this.reasonString = reasonString;
        this.finished = Mono.just(this);
    }

    /**
     * Denies an action and says why.
     *
     * @param reasonString a text for people that an MQTT 5.0 client gets with the refusal, if it wants such texts and its maximum
     *     packet size allows it
     * @return a decision; it is not equal to {@link #DENY}
     */
    public static AccessDecision deny(String reasonString) {
        return new AccessDecision("DENY", Objects.requireNonNull(reasonString));
    }

    /**
     * Whether the action is allowed.
     *
     * @return true for {@link #ALLOW} alone
     */
    public boolean isAllowed() {
        return this == ALLOW;
    }

    /**
     * Why the action is denied, for people.
     *
     * @return the Reason String of the answer, or null
     */
    public @Nullable String reasonString() {
        return reasonString;
    }

    /**
     * The decision as an already finished Mono, the same each time: the broker reads it without subscribing.
     *
     * @return a Mono of this decision
     */
    public Mono<AccessDecision> now() {
        return finished;
    }

    @Override
    public String toString() {
        return reasonString == null ? name : name + " (" + reasonString + ')';
    }
}

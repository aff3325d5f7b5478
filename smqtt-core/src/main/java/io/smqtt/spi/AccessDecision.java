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

    /** This authorizer does not decide: the next one does. After the last one the action is denied. */
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
     * Denies an action with a Reason String.
     *
     * @param reasonString a text that an MQTT 5.0 client gets with the refusal, unless it has disabled Problem Information or its Maximum
     *     Packet Size is too small
     * @return a decision; it is not equal to {@link #DENY}
     */
    public static AccessDecision deny(String reasonString) {
        return new AccessDecision("DENY", Objects.requireNonNull(reasonString));
    }

    /**
     * Whether the action is allowed.
     *
     * @return true for {@link #ALLOW} only
     */
    public boolean isAllowed() {
        return this == ALLOW;
    }

    /**
     * Returns the reason of the denial as text.
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

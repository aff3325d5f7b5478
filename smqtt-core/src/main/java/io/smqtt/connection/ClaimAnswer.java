// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClaimRefusedException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The answer to the claim of a client identifier.
 *
 * @param reason {@link ReasonCode#SUCCESS}, or why the client is refused
 * @param text the same for the client, or null
 */
record ClaimAnswer(ReasonCode reason, @Nullable String text) {

    /** A claim without an answer. */
    static final ClaimAnswer UNAVAILABLE = new ClaimAnswer(ReasonCode.SERVER_UNAVAILABLE, null);

    private static final ClaimAnswer GRANTED = new ClaimAnswer(ReasonCode.SUCCESS, null);

    /** The answer as a value. */
    static Mono<ClaimAnswer> of(Mono<Void> claimed) {
        return claimed.thenReturn(GRANTED)
                .onErrorResume(
                        ClaimRefusedException.class,
                        refused -> Mono.just(new ClaimAnswer(refused.reason(), refused.text())));
    }

    boolean isGranted() {
        return reason == ReasonCode.SUCCESS;
    }
}
